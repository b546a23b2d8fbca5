/* SPDX-License-Identifier: Apache-2.0 */
/* To be preloaded: makes MPI claim, on rank DEVICE_MPI_RANK, that it accepts buffers in the memory
 * of CUDA devices. */
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)
int MPIX_Query_cuda_support(void);
int MPIX_Query_cuda_support(void)
{
    const char *wanted = getenv("DEVICE_MPI_RANK"), *rank = getenv("OMPI_COMM_WORLD_RANK");

    return wanted != NULL && rank != NULL && strcmp(rank, wanted) == 0;
}
#pragma GCC visibility pop
