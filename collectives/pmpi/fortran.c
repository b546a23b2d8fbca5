/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

/* The functions for Fortran: Open MPI's own entry points call PMPI's C functions and would bypass
 * this library (MPICH's do not). Each has the names of four compilers for mpif.h and module mpi,
 * and the one that module mpi_f08 calls. */

#include "collectives/pmpi/pmpi.h"

#include <dlfcn.h>
#include <string.h>

#pragma GCC visibility push(default)
#ifdef OPEN_MPI

/* Fortran's MPI_IN_PLACE and MPI_BOTTOM; every compiler has its own spelling. */
extern int MPI_FORTRAN_IN_PLACE __attribute__((weak));
extern int mpi_fortran_in_place __attribute__((weak));
extern int mpi_fortran_in_place_ __attribute__((weak));
extern int mpi_fortran_in_place__ __attribute__((weak));
extern int MPI_FORTRAN_BOTTOM __attribute__((weak));
extern int mpi_fortran_bottom __attribute__((weak));
extern int mpi_fortran_bottom_ __attribute__((weak));
extern int mpi_fortran_bottom__ __attribute__((weak));

static void *address(void *buffer)
{
    if (buffer != NULL && (buffer == &MPI_FORTRAN_IN_PLACE || buffer == &mpi_fortran_in_place ||
                           buffer == &mpi_fortran_in_place_ || buffer == &mpi_fortran_in_place__))
        return MPI_IN_PLACE;
    if (buffer == &MPI_FORTRAN_BOTTOM || buffer == &mpi_fortran_bottom ||
        buffer == &mpi_fortran_bottom_ || buffer == &mpi_fortran_bottom__)
        return MPI_BOTTOM;
    return buffer;
}

/* Returns the function of this name of the program's MPI if that is another one, which knows its
 * own handles and constants; else NULL. */
static void *find_other(const char *name)
{
    return state_is_our_mpi(false) ? NULL : dlsym(RTLD_NEXT, name);
}

/* Defines a function with PARAMETERS as ompi_NAME_f, and its other names as aliases. It sets ierr,
 * the last parameter, to the result of CALL. */
#define FORTRAN(LOWER, UPPER, PARAMETERS, ARGUMENTS, CALL)                                         \
    void ompi_##LOWER##_f PARAMETERS;                                                              \
    void mpi_##LOWER PARAMETERS __attribute__((alias("ompi_" #LOWER "_f")));                       \
    void mpi_##LOWER##_ PARAMETERS __attribute__((alias("ompi_" #LOWER "_f")));                    \
    void mpi_##LOWER##__ PARAMETERS __attribute__((alias("ompi_" #LOWER "_f")));                   \
    void MPI_##UPPER PARAMETERS __attribute__((alias("ompi_" #LOWER "_f")));                       \
    static void do_##LOWER PARAMETERS                                                              \
    {                                                                                              \
        int code = CALL;                                                                           \
                                                                                                   \
        if (ierr != NULL)                                                                          \
            *ierr = code;                                                                          \
    }                                                                                              \
    void ompi_##LOWER##_f PARAMETERS                                                               \
    {                                                                                              \
        __typeof__(&do_##LOWER) call = do_##LOWER;                                                 \
        void *other = find_other("mpi_" #LOWER "_");                                               \
                                                                                                   \
        if (other != NULL)                                                                         \
            memcpy(&call, &other, sizeof call);                                                    \
        call ARGUMENTS;                                                                            \
    }

FORTRAN(init, INIT, (MPI_Fint * ierr), (ierr), MPI_Init(NULL, NULL))

static int init_thread(MPI_Fint required, MPI_Fint *provided)
{
    int level = 0, code = MPI_Init_thread(NULL, NULL, required, &level);

    *provided = level;
    return code;
}

FORTRAN(init_thread, INIT_THREAD, (MPI_Fint * required, MPI_Fint *provided, MPI_Fint *ierr),
        (required, provided, ierr), init_thread(*required, provided))

FORTRAN(finalize, FINALIZE, (MPI_Fint * ierr), (ierr), MPI_Finalize())

FORTRAN(allreduce, ALLREDUCE,
        (void *in, void *out, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op, MPI_Fint *comm,
         MPI_Fint *ierr),
        (in, out, count, type, op, comm, ierr),
        MPI_Allreduce(address(in), address(out), *count, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op),
                      PMPI_Comm_f2c(*comm)))

FORTRAN(reduce, REDUCE,
        (void *in, void *out, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op, MPI_Fint *root,
         MPI_Fint *comm, MPI_Fint *ierr),
        (in, out, count, type, op, root, comm, ierr),
        MPI_Reduce(address(in), address(out), *count, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op), *root,
                   PMPI_Comm_f2c(*comm)))

FORTRAN(reduce_scatter, REDUCE_SCATTER,
        (void *in, void *out, MPI_Fint *counts, MPI_Fint *type, MPI_Fint *op, MPI_Fint *comm,
         MPI_Fint *ierr),
        (in, out, counts, type, op, comm, ierr),
        MPI_Reduce_scatter(address(in), address(out), counts, PMPI_Type_f2c(*type),
                           PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm)))

FORTRAN(reduce_scatter_block, REDUCE_SCATTER_BLOCK,
        (void *in, void *out, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op, MPI_Fint *comm,
         MPI_Fint *ierr),
        (in, out, count, type, op, comm, ierr),
        MPI_Reduce_scatter_block(address(in), address(out), *count, PMPI_Type_f2c(*type),
                                 PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm)))

FORTRAN(bcast, BCAST,
        (void *buffer, MPI_Fint *count, MPI_Fint *type, MPI_Fint *root, MPI_Fint *comm,
         MPI_Fint *ierr),
        (buffer, count, type, root, comm, ierr),
        MPI_Bcast(address(buffer), *count, PMPI_Type_f2c(*type), *root, PMPI_Comm_f2c(*comm)))

FORTRAN(allgather, ALLGATHER,
        (void *in, MPI_Fint *in_count, MPI_Fint *in_type, void *out, MPI_Fint *out_count,
         MPI_Fint *out_type, MPI_Fint *comm, MPI_Fint *ierr),
        (in, in_count, in_type, out, out_count, out_type, comm, ierr),
        MPI_Allgather(address(in), *in_count, PMPI_Type_f2c(*in_type), address(out), *out_count,
                      PMPI_Type_f2c(*out_type), PMPI_Comm_f2c(*comm)))

FORTRAN(allgatherv, ALLGATHERV,
        (void *in, MPI_Fint *in_count, MPI_Fint *in_type, void *out, MPI_Fint *counts,
         MPI_Fint *displacements, MPI_Fint *out_type, MPI_Fint *comm, MPI_Fint *ierr),
        (in, in_count, in_type, out, counts, displacements, out_type, comm, ierr),
        MPI_Allgatherv(address(in), *in_count, PMPI_Type_f2c(*in_type), address(out), counts,
                       displacements, PMPI_Type_f2c(*out_type), PMPI_Comm_f2c(*comm)))

FORTRAN(alltoall, ALLTOALL,
        (void *in, MPI_Fint *in_count, MPI_Fint *in_type, void *out, MPI_Fint *out_count,
         MPI_Fint *out_type, MPI_Fint *comm, MPI_Fint *ierr),
        (in, in_count, in_type, out, out_count, out_type, comm, ierr),
        MPI_Alltoall(address(in), *in_count, PMPI_Type_f2c(*in_type), address(out), *out_count,
                     PMPI_Type_f2c(*out_type), PMPI_Comm_f2c(*comm)))

FORTRAN(alltoallv, ALLTOALLV,
        (void *in, MPI_Fint *in_counts, MPI_Fint *in_displacements, MPI_Fint *in_type, void *out,
         MPI_Fint *out_counts, MPI_Fint *out_displacements, MPI_Fint *out_type, MPI_Fint *comm,
         MPI_Fint *ierr),
        (in, in_counts, in_displacements, in_type, out, out_counts, out_displacements, out_type,
         comm, ierr),
        MPI_Alltoallv(address(in), in_counts, in_displacements, PMPI_Type_f2c(*in_type),
                      address(out), out_counts, out_displacements, PMPI_Type_f2c(*out_type),
                      PMPI_Comm_f2c(*comm)))

#endif
#pragma GCC visibility pop
