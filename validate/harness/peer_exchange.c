/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/harness/peer_exchange.h"

#include <stdlib.h>

#include "lib/base/address_ranges.h"
#include "validate/harness/watch/peers.h"

/* Ranks that lack memory still take part, with room for nothing. */
void peer_exchange(MPI_Comm comm, bool is_reporter)
{
    struct in6_addr *own = NULL, *all = NULL;
    int size, *counts, *begins, total = 0, bytes, is_known;

    MPI_Comm_size(comm, &size);
    bytes = is_reporter ? (int)(addresses_own(&own) * sizeof *own) : 0;
    counts = calloc((size_t)size, sizeof *counts);
    begins = calloc((size_t)size, sizeof *begins);
    is_known = counts && begins && (bytes > 0 || !is_reporter);
    MPI_Allreduce(MPI_IN_PLACE, &is_known, 1, MPI_INT, MPI_MIN, comm);
    if (is_known) {
        MPI_Allgather(&bytes, 1, MPI_INT, counts, 1, MPI_INT, comm);
        for (int rank = 0; rank < size; rank++) {
            begins[rank] = total;
            total += counts[rank];
        }
        all = malloc((size_t)total + 1);
        is_known = all != NULL;
        MPI_Allreduce(MPI_IN_PLACE, &is_known, 1, MPI_INT, MPI_MIN, comm);
    }
    if (is_known) {
        MPI_Allgatherv(own, bytes, MPI_BYTE, all, counts, begins, MPI_BYTE, comm);
        peers_set(all, (size_t)total / sizeof *all);
    }
    free(own);
    free(all);
    free(counts);
    free(begins);
}
