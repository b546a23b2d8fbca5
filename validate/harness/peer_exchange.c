/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/harness/peer_exchange.h"

#include <stdlib.h>

#include "lib/base/address_ranges.h"
#include "validate/harness/sleeping_wait.h"
#include "validate/harness/watch/peers.h"
#include "validate/harness/watch/stall.h"

/* A rank without memory still takes part in the collectives. */
void peer_exchange(MPI_Comm comm, bool is_reporter)
{
    struct in6_addr *own = NULL, *all = NULL;
    int size, *counts, *begins, total = 0, bytes;
    MPI_Request request;

    MPI_Comm_size(comm, &size);
    bytes = is_reporter ? (int)(addresses_own(&own) * sizeof *own) : 0;
    counts = calloc((size_t)size, sizeof *counts);
    begins = calloc((size_t)size, sizeof *begins);
    if (sleeping_least(counts && begins && (bytes > 0 || !is_reporter), comm)) {
        sleeping_allgather(&bytes, counts, sizeof bytes, comm);
        for (int rank = 0; rank < size; rank++) {
            begins[rank] = total;
            total += counts[rank];
        }
        all = malloc((size_t)total + 1);
        if (sleeping_least(all != NULL, comm)) {
            MPI_Igatherv(own, bytes, MPI_BYTE, all, counts, begins, MPI_BYTE, 0, comm, &request);
            sleeping_wait(&request, STALL_WAIT_ALL);
            sleeping_bcast(all, total, 0, comm);
            peers_set(all, (size_t)total / sizeof *all);
        }
    }
    free(own);
    free(all);
    free(counts);
    free(begins);
}
