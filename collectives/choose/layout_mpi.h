/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LAYOUT_MPI_H
#define MUSTER_LAYOUT_MPI_H

#include <mpi.h>

#include "collectives/choose/layout.h"
#include "lib/base/error.h"

/* Finds where the ranks of a communicator are: nodes by shared memory, leaves by each rank's
 * SLURM_TOPOLOGY_ADDR of Slurm. All ranks call it. Returns NULL with err. */
struct layout *layout_find(MPI_Comm comm, struct error *err);

#endif
