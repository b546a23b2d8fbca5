/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/open_mpi.h"

#include <stdbool.h>
#include <stddef.h>

#include "tests/bench/mpi_calls.h"

/* In the order of mpi_call_find(). */
static const char *const variables[MPI_CALL_KINDS] = {
    "coll_tuned_allreduce_algorithm", "coll_tuned_reduce_scatter_block_algorithm",
    "coll_tuned_allgather_algorithm", "coll_tuned_bcast_algorithm",
    "coll_tuned_reduce_algorithm",    "coll_tuned_alltoall_algorithm"};

static bool find(int kind, int *index, MPI_T_enum *values)
{
    int verbosity, binding, scope;
    MPI_Datatype type;

    return MPI_T_cvar_get_index(variables[kind], index) == MPI_SUCCESS &&
           MPI_T_cvar_get_info(*index, NULL, NULL, &verbosity, &type, values, NULL, NULL, &binding,
                               &scope) == MPI_SUCCESS;
}

int open_mpi_algorithms(int kind)
{
    int index, count, length = 0;
    MPI_T_enum values;

    if (!find(kind, &index, &values) ||
        MPI_T_enum_get_info(values, &count, NULL, &length) != MPI_SUCCESS)
        return 0;
    return count - 1; /* algorithm 0 leaves the choice to coll_tuned */
}

void open_mpi_name(int kind, int algorithm, char *name, int size)
{
    int index, value;
    MPI_T_enum values;

    if (!find(kind, &index, &values) ||
        MPI_T_enum_get_item(values, algorithm, &value, name, &size) != MPI_SUCCESS)
        *name = '\0';
}

static void set(int kind, int algorithm)
{
    MPI_T_cvar_handle handle;
    int index, count;
    MPI_T_enum values;

    if (!find(kind, &index, &values) ||
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return;
    MPI_T_cvar_write(handle, &algorithm);
    MPI_T_cvar_handle_free(&handle);
}

MPI_Comm open_mpi_comm(int algorithm)
{
    MPI_Comm comm;

    for (int kind = 0; kind < MPI_CALL_KINDS; kind++) {
        int last = open_mpi_algorithms(kind);

        set(kind, algorithm < last ? algorithm : last);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int kind = 0; kind < MPI_CALL_KINDS; kind++)
        set(kind, 0);
    return comm;
}
