# SPDX-License-Identifier: Apache-2.0
#
# MUSTER_SLURM: slurm/spank.h and libslurm, and the directory of Slurm's plugins.
# Sets muster_have_slurm, SLURM_CFLAGS, SLURM_LIBS, slurmplugindir.
AC_DEFUN([MUSTER_SLURM], [
    AC_ARG_WITH([slurm],
        [AS_HELP_STRING([--with-slurm=DIR], [Slurm's installation prefix])],
        [], [with_slurm=])
    AC_ARG_WITH([slurm-plugindir],
        [AS_HELP_STRING([--with-slurm-plugindir=DIR],
            [where spank_muster.so goes @<:@Slurm's plugin directory@:>@])],
        [], [with_slurm_plugindir=])
    AC_ARG_WITH([slurm-sysconfdir],
        [AS_HELP_STRING([--with-slurm-sysconfdir=DIR],
            [where Slurm was built to look for slurm.conf @<:@etc of --with-slurm, else /etc/slurm@:>@])],
        [], [with_slurm_sysconfdir=${with_slurm:+$with_slurm/etc}])
    AS_IF([test -z "$with_slurm_sysconfdir"], [with_slurm_sysconfdir=/etc/slurm])
    AC_DEFINE_UNQUOTED([MUSTER_SLURMSYSCONFDIR], ["$with_slurm_sysconfdir"], [where slurm.conf is])
    SLURM_CFLAGS=
    SLURM_LIBS=-lslurm
    AS_IF([test -n "$with_slurm"], [
        SLURM_CFLAGS="-I$with_slurm/include"
        muster_dir=$with_slurm/lib
        AS_IF([test -e "$with_slurm/lib64/libslurm.so"], [muster_dir=$with_slurm/lib64])
        SLURM_LIBS="-L$muster_dir -Wl,-rpath,$muster_dir -lslurm"
    ])
    muster_saved_cppflags=$CPPFLAGS
    muster_saved_libs=$LIBS
    CPPFLAGS="$CPPFLAGS $SLURM_CFLAGS"
    LIBS="$LIBS $SLURM_LIBS"
    muster_have_slurm=yes
    AC_CHECK_HEADER([slurm/spank.h], [], [muster_have_slurm=no])
    AC_MSG_CHECKING([for libslurm])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <slurm/slurm.h>]],
        [[return slurm_api_version() == 0;]])],
        [AC_MSG_RESULT([yes])], [AC_MSG_RESULT([no]); muster_have_slurm=no])
    CPPFLAGS=$muster_saved_cppflags
    LIBS=$muster_saved_libs
    AS_IF([test "$muster_have_slurm" = no],
        [MUSTER_MISSING([Slurm's headers and libslurm], [the plugin and the muster command],
            [libslurm-dev], [slurm-devel])])
    AC_MSG_CHECKING([for Slurm's plugin directory])
    slurmplugindir=$with_slurm_plugindir
    for muster_dir in "$with_slurm/lib/slurm" "$with_slurm/lib64/slurm" \
        "/usr/lib/$(${CC} -print-multiarch 2>/dev/null)/slurm-wlm" \
        /usr/lib64/slurm /usr/lib/slurm /usr/local/lib/slurm; do
        AS_IF([test -z "$slurmplugindir" && test -d "$muster_dir"], [slurmplugindir=$muster_dir])
    done
    AS_IF([test -z "$slurmplugindir"], [slurmplugindir='${libdir}/slurm'])
    AC_MSG_RESULT([$slurmplugindir])
    AC_SUBST([SLURM_CFLAGS])
    AC_SUBST([SLURM_LIBS])
    AC_SUBST([slurmplugindir])
])
