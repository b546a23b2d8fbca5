/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VERIFY_H
#define MUSTER_VERIFY_H

#include "trainer/parallel/strategy.h"

/* Whether what must be equal is: the parameters that ranks hold, or gather, tensor by tensor after
 * each step (of a pipeline among those that have them); and what a rank keeps from step to step
 * against what it was when the last one ended, which finds memory that changes by itself also where
 * there is no second copy. */

struct verify;

/* The rank whose number differs from what most have; *is_sure: false where there is no majority.
 * -1: all are equal. values: ranks. Pure. */
int verify_odd_one(const uint64_t *values, int ranks, bool *is_sure);

/* Says who of the communicator differs about what: "rank 2 on n3: WHAT is not what most of the 3
 * ranks have". ranks: so many have it, other is the first of them. Returns -1. */
int verify_name_rank(const struct comm *comm, const char *what, int rank, int other, int ranks,
                     bool is_sure, struct error *err);

/* comm: whose ranks are compared. Returns 0, or -1 with err. */
int verify_create(struct shard *shard, struct comm *comm, struct verify **verify,
                  struct error *err);
void verify_destroy(struct verify *verify);

/* Before a step, after one. Collective; 0, or -1 on all ranks with err, which names rank and
 * tensor, or rank and layer. */
int verify_before(struct verify *verify, struct error *err);
int verify_after(struct verify *verify, struct error *err);

#endif
