/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/pmpi/pmpi.h"

int MPI_Init(int *argc, char ***argv)
{
    int code = PMPI_Init(argc, argv);

    if (code == MPI_SUCCESS)
        state_begin();
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int code = PMPI_Init_thread(argc, argv, required, provided);

    if (code == MPI_SUCCESS)
        state_begin();
    return code;
}

int MPI_Finalize(void)
{
    state_end();
    return PMPI_Finalize();
}
