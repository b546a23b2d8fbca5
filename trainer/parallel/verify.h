/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VERIFY_H
#define MUSTER_VERIFY_H

#include "trainer/parallel/strategy.h"

/* Compares what must be equal. After each step, the parameters that ranks hold or gather, tensor by
 * tensor (in a pipeline among the ranks that have them). Before each step, the state that a rank
 * keeps with what it was when the last step ended: this finds memory that changes by itself, even
 * without a second copy. */

struct verify;

/* Returns the first rank whose value is not that of the majority, or -1 if all are equal. If no
 * value has a majority sets *is_sure to false, and returns the first rank whose value is not rank
 * 0's. values: [ranks]. Pure. */
int verify_odd_one(const uint64_t *values, int ranks, bool *is_sure);

/* Sets err to the rank of the communicator that differs: "rank 2 on n3: WHAT differs from most of
 * the 3 ranks". ranks: how many ranks have WHAT; other: the first of these. Returns -1. */
int verify_name_rank(const struct comm *comm, const char *what, int rank, int other, int ranks,
                     bool is_sure, struct error *err);

/* comm: the ranks that are compared. Returns 0, or -1 with err. */
int verify_create(struct shard *shard, struct comm *comm, struct verify **verify,
                  struct error *err);
void verify_destroy(struct verify *verify);

/* Called before a step, and after one. Collective. Return 0, or -1 on all ranks with err, which
 * names rank and layer (before), or rank and tensor (after). */
int verify_before(struct verify *verify, struct error *err);
int verify_after(struct verify *verify, struct error *err);

#endif
