/* SPDX-License-Identifier: Apache-2.0 */
/* One rank damages all messages that it sends. Evidence from our own algorithms names that rank,
 * although its own results are right and some results of others are wrong. */
#include "collectives/algorithms/algorithm.h"
#include "tests/unit/collectives/plan_simulator.h"
#include "tests/unit/tap.h"
#include "validate/battery/collectives/evidence.h"

#include <string.h>

enum { RANKS_MAX = 8, COUNT = 24, ROOM = RANKS_MAX * COUNT, ITEMS = 20000 };

static struct evidence items[ITEMS];
static int item_count, case_count;
static bool is_reversed; /* the communicator has the ranks of the world from last to first */

static int world_rank(int rank, int ranks)
{
    return is_reversed && rank >= 0 ? ranks - 1 - rank : rank;
}

static uint32_t contribution(int rank, size_t i)
{
    return (uint32_t)(rank * 1000 + (int)i) * 2654435761u;
}

/* Checks one block of the result. source: the rank that contributed the block, -1 for a sum.
 * first: the index of its first element in the contribution. out: where the block begins. */
static void check_block(const struct plan_shape *shape, const uint32_t *out, int source,
                        size_t first, enum evidence_kind kind)
{
    for (size_t i = 0; i < shape->count; i++) {
        uint32_t expected = 0;

        for (int rank = 0; rank < shape->ranks; rank++)
            if (source < 0 || source == rank)
                expected += contribution(rank, first + i);
        if (out[i] == expected)
            continue;
        items[item_count++] = (struct evidence){.case_number = case_count,
                                                .kind = kind,
                                                .observer = world_rank(shape->rank, shape->ranks),
                                                .source = world_rank(source, shape->ranks),
                                                .count = shape->ranks,
                                                .is_reversed = is_reversed,
                                                .found = out[i],
                                                .expected = expected};
        return;
    }
}

static void check_result(const struct plan_shape *shape, const uint32_t *out)
{
    size_t own = (size_t)shape->rank * shape->count;

    switch (shape->kind) {
    case COLLECTIVE_ALLREDUCE:
        check_block(shape, out, -1, 0, EVIDENCE_SHARED);
        break;
    case COLLECTIVE_BROADCAST:
        check_block(shape, out, shape->root, 0, EVIDENCE_SHARED);
        break;
    case COLLECTIVE_REDUCE:
        if (shape->rank == shape->root)
            check_block(shape, out, -1, 0, EVIDENCE_PERSONAL);
        break;
    case COLLECTIVE_REDUCE_SCATTER:
        check_block(shape, out, -1, own, EVIDENCE_PERSONAL);
        break;
    default:
        for (int from = 0; from < shape->ranks; from++)
            check_block(shape, out + (size_t)from * shape->count, from,
                        shape->kind == COLLECTIVE_ALL_TO_ALL ? own : 0,
                        shape->kind == COLLECTIVE_ALL_TO_ALL ? EVIDENCE_PERSONAL : EVIDENCE_SHARED);
    }
}

static void run_case(const struct algorithm *algorithm, int ranks, int root, int faulty)
{
    static uint32_t ins[RANKS_MAX][ROOM], outs[RANKS_MAX][ROOM];
    int nodes[RANKS_MAX];
    struct plan_topology topology = {.node_of_rank = nodes, .nodes = (ranks + 1) / 2};
    struct plan_shape shapes[RANKS_MAX] = {0};
    struct plan plans[RANKS_MAX];
    struct simulated_rank simulated[RANKS_MAX];
    struct simulation simulation = {.type = ELEMENT_UINT32,
                                    .op = REDUCE_SUM,
                                    .seed = (unsigned)case_count + 1,
                                    .has_corrupter = true,
                                    .corrupting_rank = world_rank(faulty, ranks)};
    struct error err = {""};

    for (int rank = 0; rank < ranks; rank++) {
        nodes[rank] = rank / 2;
        shapes[rank] = (struct plan_shape){.kind = algorithm->kind,
                                           .element_bytes = sizeof(uint32_t),
                                           .rank = rank,
                                           .ranks = ranks,
                                           .root = root,
                                           .count = COUNT,
                                           .topology = &topology};
        for (size_t i = 0; i < ROOM; i++)
            ins[rank][i] = contribution(rank, i);
        memset(outs[rank], 0, sizeof outs[rank]);
        if (algorithm->kind == COLLECTIVE_BROADCAST && rank == root)
            memcpy(outs[rank], ins[rank], sizeof outs[rank]);
        simulated[rank] =
            (struct simulated_rank){&shapes[rank], &plans[rank], ins[rank], outs[rank], ROOM, ROOM};
    }
    if (!algorithm_applies(algorithm, &shapes[0]))
        return;
    case_count++;
    for (int rank = 0; rank < ranks; rank++)
        algorithm_plan(algorithm, &shapes[rank], &plans[rank], &err);
    if (simulate(&simulation, simulated, ranks, NULL, &err) < 0)
        ok(false, "%s: %s", algorithm->name, err.text);
    for (int rank = 0; rank < ranks; rank++) {
        check_result(&shapes[rank], outs[rank]);
        plan_clear(&plans[rank]);
    }
}

/* Runs every algorithm with each rank as root in turn. */
static void check_rank(int ranks, int faulty)
{
    struct faulty_rank faulty_ranks[FAULTY_RANKS];
    int found;

    item_count = case_count = 0;
    for (const struct algorithm *a = algorithms; a->name; a++)
        for (int root = 0; root < ranks; root++)
            run_case(a, ranks, root, faulty);
    found = evidence_attribute(items, item_count, ranks, faulty_ranks);
    ok(found == 1 && faulty_ranks[0].rank == faulty && faulty_ranks[0].rivals == 0,
       "%d ranks: rank %d, which damages its messages, is the only one named, by %d wrong blocks",
       ranks, faulty, item_count);
    for (int i = 0; i < found; i++)
        tap_diag("rank %d (%d), %d cases, %d rivals", faulty_ranks[i].rank, faulty_ranks[i].sends,
                 faulty_ranks[i].cases, faulty_ranks[i].rivals);
}

/* With broadcasts from other roots only, no contribution of the faulty rank is seen. It is named
 * because all its own results are right. That needs two orders of ranks: in one order, the rank
 * before it in a chain or tree always has its data first, whatever the root is. */
static void check_rank_by_broadcasts(int ranks, int faulty)
{
    struct faulty_rank faulty_ranks[FAULTY_RANKS];
    int found;

    item_count = case_count = 0;
    for (int order = 0; order < 2; order++) {
        is_reversed = order;
        for (const struct algorithm *a = algorithms; a->name; a++)
            for (int root = 0; root < ranks; root++)
                if (a->kind == COLLECTIVE_BROADCAST && world_rank(root, ranks) != faulty)
                    run_case(a, ranks, root, faulty);
    }
    is_reversed = false;
    found = evidence_attribute(items, item_count, ranks, faulty_ranks);
    ok(found > 0 && faulty_ranks[0].rank == faulty && faulty_ranks[0].rivals == 0,
       "%d ranks: rank %d is named by broadcasts that it forwarded", ranks, faulty);
    for (int i = 0; i < found; i++)
        tap_diag("rank %d (%d), %d cases, %d rivals", faulty_ranks[i].rank, faulty_ranks[i].sends,
                 faulty_ranks[i].cases, faulty_ranks[i].rivals);
}

int main(void)
{
    /* with three ranks, a forwarded error can look like a contributed one */
    for (int ranks = 4; ranks <= RANKS_MAX; ranks++)
        for (int faulty = 0; faulty < ranks; faulty++)
            check_rank(ranks, faulty);
    for (int faulty = 0; faulty < RANKS_MAX; faulty++)
        check_rank_by_broadcasts(RANKS_MAX, faulty);
    return tap_done();
}
