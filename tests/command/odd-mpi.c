/* SPDX-License-Identifier: Apache-2.0 */
/* To be preloaded. With ODD_MPI=foreign, MPI claims to be another one, in a long version text; with
 * ODD_MPI=full, it has no communicator left; with ODD_MPI=blind, none for the ranks of a node. Its
 * mpi_finalize_() of Fortran prints "odd". */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ERR_OTHER = 16 /* Open MPI's */ };

static int is_odd(const char *how)
{
    const char *wanted = getenv("ODD_MPI");

    return wanted != NULL && strcmp(wanted, how) == 0;
}

#pragma GCC visibility push(default)
int PMPI_Comm_call_errhandler(void *comm, int code);
int PMPI_Comm_split(void *comm, int color, int key, void **made);
int PMPI_Comm_split(void *comm, int color, int key, void **made)
{
    __typeof__(&PMPI_Comm_split) real;
    void *found = dlsym(RTLD_NEXT, __func__);

    memcpy(&real, &found, sizeof real);
    if (!is_odd("full"))
        return real(comm, color, key, made);
    PMPI_Comm_call_errhandler(comm, ERR_OTHER);
    return ERR_OTHER;
}

int PMPI_Comm_split_type(void *comm, int type, int key, void *info, void **made);
int PMPI_Comm_split_type(void *comm, int type, int key, void *info, void **made)
{
    __typeof__(&PMPI_Comm_split_type) real;
    void *found = dlsym(RTLD_NEXT, __func__);

    memcpy(&real, &found, sizeof real);
    return is_odd("blind") ? ERR_OTHER : real(comm, type, key, info, made);
}

int PMPI_Get_library_version(char *version, int *length);
int PMPI_Get_library_version(char *version, int *length)
{
    __typeof__(&PMPI_Get_library_version) real;
    void *found = dlsym(RTLD_NEXT, __func__);

    memcpy(&real, &found, sizeof real);
    if (!is_odd("foreign"))
        return real(version, length);
    *length = sprintf(version, "MPICH Version: 4.0\nMPICH configure: %04000d", 0);
    return 0;
}

void mpi_finalize_(int *ierr);
void mpi_finalize_(int *ierr)
{
    __typeof__(&mpi_finalize_) real;
    void *found = dlsym(RTLD_NEXT, __func__);

    memcpy(&real, &found, sizeof real);
    puts("odd");
    fflush(stdout);
    real(ierr);
}
#pragma GCC visibility pop
