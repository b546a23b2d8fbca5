# SPDX-License-Identifier: Apache-2.0
#
# MUSTER_COMPILER_FLAGS: C11 with GNU extensions, warnings, and the hardening that Debian builds
# with. Text is cut at the size of its buffer on purpose, so that is no warning; what gcc finds of it
# depends on the optimisation besides. --enable-werror makes warnings errors (the project's own CI does).
AC_DEFUN([MUSTER_TRY_CFLAG], [
    AC_MSG_CHECKING([whether $CC takes $1])
    muster_saved_cflags=$CFLAGS
    CFLAGS="$CFLAGS -Werror $1"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM],
        [AC_MSG_RESULT([yes]); $2="$$2 $1"], [AC_MSG_RESULT([no])])
    CFLAGS=$muster_saved_cflags
])
AC_DEFUN([MUSTER_TRY_LDFLAG], [
    AC_MSG_CHECKING([whether the linker takes $1])
    muster_saved_ldflags=$LDFLAGS
    LDFLAGS="$LDFLAGS $1"
    AC_LINK_IFELSE([AC_LANG_PROGRAM],
        [AC_MSG_RESULT([yes]); $2="$$2 $1"], [AC_MSG_RESULT([no])])
    LDFLAGS=$muster_saved_ldflags
])
AC_DEFUN([MUSTER_COMPILER_FLAGS], [
    AC_ARG_ENABLE([werror],
        [AS_HELP_STRING([--enable-werror], [make warnings errors])], [], [enable_werror=no])
    MUSTER_CFLAGS=
    MUSTER_LDFLAGS=
    for muster_flag in -std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes \
        -Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wundef -Wvla -Wno-missing-field-initializers \
        -Wformat=2 -Wno-format-nonliteral -Wno-format-truncation -fvisibility=hidden -fPIC; do
        MUSTER_TRY_CFLAG([$muster_flag], [MUSTER_CFLAGS])
    done
    for muster_flag in -fstack-protector-strong -fstack-clash-protection -fcf-protection; do
        MUSTER_TRY_CFLAG([$muster_flag], [MUSTER_CFLAGS])
    done
    # Structures of a hundred bytes are cleared and copied by stores: the string instructions that gcc
    # before 15 takes for that need 5 ns each to begin, a twentieth of a collective of 8 bytes.
    for muster_flag in "-mmemset-strategy=unrolled_loop:256:noalign,libcall:-1:noalign" \
        "-mmemcpy-strategy=unrolled_loop:256:noalign,libcall:-1:noalign"; do
        MUSTER_TRY_CFLAG([$muster_flag], [MUSTER_CFLAGS])
    done
    # Loops that are to become vectors in full, for the folders that ask for it (square roots do only
    # without errno). Not by -O3: the user's -O2 stands behind it on the command line.
    VECTOR_CFLAGS=
    for muster_flag in -ftree-vectorize -fvect-cost-model=dynamic -funswitch-loops \
        -fno-trapping-math -fno-math-errno; do
        MUSTER_TRY_CFLAG([$muster_flag], [VECTOR_CFLAGS])
    done
    AC_SUBST([VECTOR_CFLAGS])
    for muster_flag in -Wl,--as-needed -Wl,-z,relro -Wl,-z,now; do
        MUSTER_TRY_LDFLAG([$muster_flag], [MUSTER_LDFLAGS])
    done
    AS_IF([test "$enable_werror" = yes], [MUSTER_CFLAGS="$MUSTER_CFLAGS -Werror"])
    AC_SUBST([MUSTER_CFLAGS])
    AC_SUBST([MUSTER_LDFLAGS])
])

# MUSTER_SYSTEM_LIBRARIES: what is part of libc since glibc 2.34, and libm, for every program; linked
# --as-needed, as the plugin must not have libm.
AC_DEFUN([MUSTER_SYSTEM_LIBRARIES], [
    AC_SEARCH_LIBS([dlopen], [dl])
    AC_SEARCH_LIBS([pthread_create], [pthread])
    AC_SEARCH_LIBS([cexp], [m])
])
