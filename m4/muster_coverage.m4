# SPDX-License-Identifier: Apache-2.0
#
# MUSTER_COVERAGE: --enable-coverage counts executed lines for gcov.
AC_DEFUN([MUSTER_COVERAGE], [
    AC_ARG_ENABLE([coverage],
        [AS_HELP_STRING([--enable-coverage], [build for gcov])], [], [enable_coverage=no])
    AS_IF([test "$enable_coverage" = yes], [
        MUSTER_CFLAGS="$MUSTER_CFLAGS --coverage -fprofile-update=atomic -O0 -U_FORTIFY_SOURCE"
        MUSTER_LDFLAGS="$MUSTER_LDFLAGS --coverage"
    ])
])
