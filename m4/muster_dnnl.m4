# SPDX-License-Identifier: Apache-2.0
#
# MUSTER_DNNL: oneDNN for bfloat16 and for large products of floats, which has no pkg-config file.
# Sets muster_have_dnnl, DNNL_LIBS and HAVE_DNNL.
AC_DEFUN([MUSTER_DNNL], [
    AC_ARG_WITH([onednn],
        [AS_HELP_STRING([--without-onednn], [no training in bf16, slower in fp32; default: where oneDNN is])],
        [], [with_onednn=auto])
    muster_have_dnnl=no
    AS_IF([test "$with_onednn" != no], [
        AC_CHECK_HEADER([oneapi/dnnl/dnnl.h],
            [AC_CHECK_LIB([dnnl], [dnnl_cpu_isa2str], [muster_have_dnnl=yes])])
        AS_IF([test $muster_have_dnnl = yes], [
            AC_SUBST([DNNL_LIBS], [-ldnnl])
            AC_DEFINE([HAVE_DNNL], [1], [oneDNN is there])
        ], [test "$with_onednn" = yes], [
            AC_MSG_ERROR([oneDNN not found, but --with-onednn given. Debian: libdnnl-dev; RHEL: onednn-devel])
        ], [
            MUSTER_MISSING([oneDNN], [training in bf16, an option of the trainer], [libdnnl-dev],
                [onednn-devel])
        ])
    ])
])
