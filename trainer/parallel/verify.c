/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/parallel/verify.h"

#include <stdio.h>
#include <stdlib.h>

#include "collectives/codec/crc32c.h"

#define PRESENT (UINT64_C(1) << 32) /* set in each digest, above a checksum of 32 bits */

enum { NAME = 288 }; /* bytes of "rank 3 on n2" */

struct verify {
    struct shard *shard;
    struct comm *comm;
    int units;
    uint64_t *digests; /* units x TENSOR_COUNT of each rank, rank after rank, then again of this
                          rank; 0: the rank does not have the tensor */
    uint32_t *kept;    /* checksums of shard->loads when the last step ended */
    bool has_kept;
};

int verify_odd_one(const uint64_t *values, int ranks, bool *is_sure)
{
    int most = 0, common = 0;

    for (int rank = 0; rank < ranks; rank++) {
        int same = 0;

        for (int other = 0; other < ranks; other++)
            same += values[other] == values[rank];
        if (same > most) {
            most = same;
            common = rank;
        }
        if (same == ranks)
            return -1;
    }
    *is_sure = 2 * most > ranks;
    common = *is_sure ? common : 0;
    for (int rank = 0; rank < ranks; rank++)
        if (values[rank] != values[common])
            return rank;
    return -1;
}

int verify_name_rank(const struct comm *comm, const char *what, int rank, int other, int ranks,
                     bool is_sure, struct error *err)
{
    char one[NAME];

    if (is_sure)
        return error_set(err, "%s: %s differs from most of the %d ranks",
                         comm_rank_name(comm, rank), what, ranks);
    snprintf(one, sizeof one, "%s", comm_rank_name(comm, rank));
    return error_set(
        err, "%s differs between the %d ranks%s: %s and %s; run more ranks to find which is wrong",
        what, ranks, other == 0 ? "" : " that have it", one, comm_rank_name(comm, other));
}

int verify_create(struct shard *shard, struct comm *comm, struct verify **verify, struct error *err)
{
    struct verify *made = calloc(1, sizeof *made);

    if (!made)
        return error_set(err, "out of memory: %m");
    made->shard = shard;
    made->comm = comm;
    made->units = shape_units(shard->options.shape);
    made->digests =
        calloc(((size_t)comm_rank_info(comm).ranks + 1) * (size_t)made->units * TENSOR_COUNT,
               sizeof *made->digests);
    made->kept = calloc(shard->piece_count, sizeof *made->kept);
    if (!made->digests || !made->kept) {
        verify_destroy(made);
        return error_set(err, "out of memory: %m");
    }
    *verify = made;
    return 0;
}

void verify_destroy(struct verify *verify)
{
    if (!verify)
        return;
    free(verify->digests);
    free(verify->kept);
    free(verify);
}

static uint32_t sum_of(const struct checkpoint_state *piece)
{
    size_t bytes = piece->count * sizeof(real);
    uint32_t crc = crc32c(0, piece->parameters, bytes);

    crc = crc32c(crc, piece->first_moments, bytes);
    return crc32c(crc, piece->second_moments, bytes);
}

static void digest_unit(const struct verify *verify, int unit, const real *parameters,
                        uint64_t *digests)
{
    const struct shape *shape = verify->shard->options.shape;

    for (int tensor = 0; tensor < TENSOR_COUNT; tensor++)
        if (shape_unit_has(shape, unit, tensor))
            digests[unit * TENSOR_COUNT + tensor] =
                PRESENT | crc32c(0, parameters + shape_tensor_offset(shape, tensor),
                                 shape_tensor_size(shape, tensor) * sizeof(real));
}

/* Computes the digests in the walk of an evaluation, for strategies that gather. */
static void digest_all(const struct verify *verify, uint64_t *digests)
{
    const struct store *store = &verify->shard->store;

    verify->shard->strategy->begin(verify->shard, false);
    for (int step = 0; step <= verify->units; step++) {
        int unit = step % verify->units;

        if (!stage_has(verify->shard->options.stage, unit))
            continue;
        digest_unit(verify, unit, store->parameters(store->context, unit), digests);
        store->release(store->context, unit);
    }
}

/* Compares the digests with index `number` of the ranks that have one, and sets holders to these
 * ranks. Returns the index in holders of the one that differs, or -1 if all are equal. values,
 * holders: room for all ranks. */
static int odd_holder(const struct verify *verify, size_t number, uint64_t *values, int *holders,
                      int *holder_count, bool *is_sure)
{
    size_t count = (size_t)verify->units * TENSOR_COUNT;

    *holder_count = 0;
    for (int rank = 0; rank < comm_rank_info(verify->comm).ranks; rank++) {
        uint64_t digest = verify->digests[(size_t)rank * count + number];

        if (digest == 0)
            continue;
        values[*holder_count] = digest;
        holders[(*holder_count)++] = rank;
    }
    return verify_odd_one(values, *holder_count, is_sure);
}

static int compare(const struct verify *verify, struct error *err)
{
    size_t count = (size_t)verify->units * TENSOR_COUNT;
    uint64_t *values = comm_gather_buffer(verify->comm, sizeof *values);
    int *holders = comm_gather_buffer(verify->comm, sizeof *holders), odd = -1;
    char what[96];

    for (size_t i = 0; i < count && odd < 0; i++) {
        int holder_count;
        bool is_sure;

        odd = odd_holder(verify, i, values, holders, &holder_count, &is_sure);
        if (odd < 0)
            continue;
        if (i < TENSOR_COUNT)
            snprintf(what, sizeof what, "parameter %s", tensor_kinds[i].name);
        else
            snprintf(what, sizeof what, "parameter %s of layer %d",
                     tensor_kinds[i % TENSOR_COUNT].name, (int)(i / TENSOR_COUNT) - 1);
        verify_name_rank(verify->comm, what, holders[odd], holders[0], holder_count, is_sure, err);
    }
    free(values);
    free(holders);
    return odd < 0 ? 0 : -1;
}

int verify_after(struct verify *verify, struct error *err)
{
    size_t count = (size_t)verify->units * TENSOR_COUNT;
    uint64_t *own = verify->digests + (size_t)comm_rank_info(verify->comm).ranks * count;

    digest_all(verify, own);
    comm_all_gather(verify->comm, own, count * sizeof *own, verify->digests);
    for (size_t i = 0; i < verify->shard->piece_count; i++)
        verify->kept[i] = sum_of(&verify->shard->loads[i]);
    verify->has_kept = true;
    return compare(verify, err);
}

int verify_before(struct verify *verify, struct error *err)
{
    const struct shard *shard = verify->shard;
    int ranks = comm_rank_info(verify->comm).ranks, rv = 0;
    int32_t changed = -1, *all;

    if (!verify->has_kept)
        return 0;
    for (size_t i = 0; i < shard->piece_count && changed < 0; i++)
        if (sum_of(&shard->loads[i]) != verify->kept[i])
            changed = (int32_t)i;
    all = comm_gather_buffer(verify->comm, sizeof *all);
    comm_all_gather(verify->comm, &changed, sizeof changed, all);
    for (int rank = 0; rank < ranks && rv == 0; rank++) {
        char what[32] = "the model";

        if (all[rank] < 0)
            continue;
        if (shard->piece_count > 1 && all[rank] == 0)
            snprintf(what, sizeof what, "the embedding");
        else if (shard->piece_count > 1)
            snprintf(what, sizeof what, "layer %d", all[rank] - 1);
        rv = error_set(err,
                       "%s: its stored %s changed since the last step: its memory corrupts data",
                       comm_rank_name(verify->comm, rank), what);
    }
    free(all);
    return rv;
}
