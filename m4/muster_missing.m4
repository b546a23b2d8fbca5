# SPDX-License-Identifier: Apache-2.0
#
# MUSTER_MISSING(WHAT, FOR, DEBIAN, RHEL): remembers what is missing and which package brings it,
# for the summary.
AC_DEFUN([MUSTER_MISSING], [
    AC_MSG_WARN([$1 not found: $2 will not be built. Debian: $3; RHEL: $4])
    muster_missing="${muster_missing}
  $1 (for $2): Debian package $3, RHEL package $4"
])

# MUSTER_PKG(NAME, MODULE, WHAT, FOR, DEBIAN, RHEL): a library that pkg-config knows; sets
# NAME_CFLAGS, NAME_LIBS and muster_have_NAME in small letters.
AC_DEFUN([MUSTER_PKG], [
    PKG_CHECK_MODULES([$1], [$2],
        [AS_TR_SH([muster_have_]m4_tolower([$1]))=yes],
        [AS_TR_SH([muster_have_]m4_tolower([$1]))=no
         MUSTER_MISSING([$3], [$4], [$5], [$6])])
])
