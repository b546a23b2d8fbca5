# SPDX-License-Identifier: Apache-2.0
#
# MUSTER_SANITIZE: --enable-sanitize builds everything with AddressSanitizer and UBSan; the
# fortified libc functions are left out there, they hide overflows from it. A program at a fixed address,
# with UBSan in it, starts in half the time: nothing of UBSan's is relocated or searched for leaks.
AC_DEFUN([MUSTER_SANITIZE], [
    AC_ARG_ENABLE([sanitize],
        [AS_HELP_STRING([--enable-sanitize], [build with AddressSanitizer and UBSan])],
        [], [enable_sanitize=no])
    AS_IF([test "$enable_sanitize" = yes], [
        muster_sanitize="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
        MUSTER_CFLAGS="$MUSTER_CFLAGS $muster_sanitize -U_FORTIFY_SOURCE"
        MUSTER_LDFLAGS="$MUSTER_LDFLAGS $muster_sanitize"
        for muster_flag in -no-pie -static-libubsan; do
            MUSTER_TRY_LDFLAG([$muster_flag], [MUSTER_LDFLAGS])
        done
    ], [
        AS_CASE([$CFLAGS], [*-O0*], [],
            [MUSTER_TRY_CFLAG([-D_FORTIFY_SOURCE=2], [MUSTER_CFLAGS])])
    ])
    AM_CONDITIONAL([SANITIZE], [test "$enable_sanitize" = yes])
])
