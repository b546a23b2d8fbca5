# SPDX-License-Identifier: Apache-2.0
#
# MUSTER_MPI: an MPI compiler wrapper ($MPICC or mpicc) whose flags ours can be added to. The
# wrapper's flags are asked for, so that the project's compiler, its warnings and its sanitizers
# stay in force. Sets MPI_CFLAGS, MPI_LIBS, muster_have_mpi.
AC_DEFUN([MUSTER_MPI], [
    AC_ARG_VAR([MPICC], [MPI compiler wrapper])
    AC_CHECK_PROGS([MPICC], [mpicc mpicc.openmpi mpicc.mpich], [none])
    muster_have_mpi=no
    AS_IF([test "$MPICC" != none], [
        # Open MPI says -showme, MPICH -compile_info and -link_info.
        MPI_CFLAGS=$($MPICC -showme:compile 2>/dev/null) &&
            MPI_LIBS=$($MPICC -showme:link 2>/dev/null) || {
            MPI_CFLAGS=$($MPICC -compile_info 2>/dev/null | tr ' ' '\n' | grep '^-[[ID]]' | tr '\n' ' ')
            MPI_LIBS=$($MPICC -link_info 2>/dev/null | tr ' ' '\n' | grep -e '^-[[lL]]' -e '^-Wl' | tr '\n' ' ')
        }
        muster_saved_cppflags=$CPPFLAGS
        muster_saved_libs=$LIBS
        CPPFLAGS="$CPPFLAGS $MPI_CFLAGS"
        LIBS="$LIBS $MPI_LIBS"
        AC_MSG_CHECKING([whether MPI programs link])
        AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]], [[MPI_Init(0, 0);]])],
            [muster_have_mpi=yes])
        AC_MSG_RESULT([$muster_have_mpi])
        CPPFLAGS=$muster_saved_cppflags
        LIBS=$muster_saved_libs
    ])
    AS_IF([test "$muster_have_mpi" = no],
        [MUSTER_MISSING([an MPI compiler], [the battery], [libopenmpi-dev], [openmpi-devel])])
    AC_SUBST([MPI_CFLAGS])
    AC_SUBST([MPI_LIBS])
])
