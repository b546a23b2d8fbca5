/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/schedule/schedule_parts.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/grow.h"
#include "lib/base/splitmix.h"
#include "lib/constants/schedule_constants.h"
#include "validate/schedule/tournament.h"

/* A seed of 0 leaves the order as it is. */
static void shuffle(int *numbers, int count, uint64_t seed, uint64_t stream)
{
    uint64_t state = seed ^ (stream * 0xd1342543de82ef95);

    for (int i = count - 1; i > 0 && seed; i--) {
        int other = (int)(splitmix_next(&state) % (uint64_t)(i + 1)), keep = numbers[i];

        numbers[i] = numbers[other];
        numbers[other] = keep;
    }
}

/* Returns the number of slices for the pairs of one rotation of two blocks. Slices run one after
 * the other. */
static int slice_count(const struct schedule *schedule, int a, int b)
{
    int pairs = least(block_size(schedule, a), block_size(schedule, b));

    return (pairs + schedule->slice - 1) / schedule->slice;
}

static int rotation_count(const struct schedule *schedule, int a, int b)
{
    return most(block_size(schedule, a), block_size(schedule, b));
}

int schedule_rounds_for(int node_count, double confidence)
{
    int all = tournament_rounds(node_count), ceiling;

    if (node_count < 2)
        return 0;
    ceiling = least(all, (int)(2 * ceil(log2(node_count))) + 8);
    for (int k = 3; k < ceiling; k++) {
        double tail = 0;

        for (int bad = (k + 1) / 2; bad <= k; bad++)
            tail += exp(lgamma(k + 1) - lgamma(bad + 1) - lgamma(k - bad + 1) +
                        bad * log(SCHEDULE_BAD_SHARE) + (k - bad) * log(1 - SCHEDULE_BAD_SHARE));
        if (node_count * tail <= 1 - confidence)
            return k;
    }
    return ceiling;
}

/* Nodes in order of their blocks; blocks get the numbers 0, 1, ... in that order. */
struct keyed {
    int block, node;
};

static int by_block(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;

    return a->block != b->block ? (a->block < b->block ? -1 : 1) : a->node - b->node;
}

static int order_nodes(struct schedule *schedule, const int *blocks)
{
    size_t n = (size_t)schedule->node_count;
    struct keyed *keyed = calloc(n + 1, sizeof *keyed);

    schedule->order = calloc(n + 1, sizeof *schedule->order);
    schedule->position = calloc(n + 1, sizeof *schedule->position);
    schedule->block = calloc(n + 1, sizeof *schedule->block);
    schedule->members = calloc(n + 1, sizeof *schedule->members);
    schedule->begins = calloc(n + 2, sizeof *schedule->begins);
    if (!keyed || !schedule->order || !schedule->position || !schedule->block ||
        !schedule->members || !schedule->begins) {
        free(keyed);
        return -1;
    }
    for (size_t i = 0; i < n; i++)
        keyed[i] = (struct keyed){blocks && blocks[i] >= 0 ? blocks[i] : -1, (int)i};
    qsort(keyed, n, sizeof *keyed, by_block);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || keyed[i].block != keyed[i - 1].block)
            schedule->begins[schedule->block_count++] = (int)i;
        schedule->order[i] = schedule->members[i] = keyed[i].node;
        schedule->block[keyed[i].node] = schedule->block_count - 1;
    }
    schedule->begins[schedule->block_count] = (int)n;
    for (int b = 0; b < schedule->block_count; b++)
        shuffle(&schedule->order[schedule->begins[b]], block_size(schedule, b), schedule->seed,
                (uint64_t)b + 1);
    for (size_t i = 0; i < n; i++)
        schedule->position[schedule->order[i]] = (int)i;
    free(keyed);
    return 0;
}

static int add_round(struct schedule *schedule, struct round round)
{
    if (!GROW(schedule->rounds, (size_t)schedule->round_count))
        return -1;
    schedule->rounds[schedule->round_count++] = round;
    return 0;
}

/* Sets the most rotations and slices that any two blocks need that meet in that round of the
 * tournament of blocks. */
static void pair_extent(const struct schedule *schedule, int round, int *rotations, int *slices)
{
    *rotations = *slices = 0;
    for (int a = 0; a < schedule->block_count; a++) {
        int b = tournament_partner(schedule->block_count, round, a);

        if (b < a)
            continue;
        *rotations = most(*rotations, rotation_count(schedule, a, b));
        *slices = most(*slices, slice_count(schedule, a, b));
    }
}

static int inside_rounds(const struct schedule *schedule)
{
    int rounds = 0;

    for (int b = 0; b < schedule->block_count; b++)
        rounds = most(rounds, tournament_rounds(block_size(schedule, b)));
    return rounds;
}

static long across_rounds(const struct schedule *schedule)
{
    long rounds = 0;

    for (int round = 0; round < tournament_rounds(schedule->block_count); round++) {
        int rotations, slices;

        pair_extent(schedule, round, &rotations, &slices);
        rounds += (long)rotations * slices;
    }
    return rounds;
}

/* Sets schedule->slice, the number of pairs that may cross at once. Returns false if any choice
 * takes too many rounds. */
static bool choose_slice(struct schedule *schedule)
{
    int largest = 1, low = 1;
    long plain = tournament_rounds(schedule->node_count), inside = inside_rounds(schedule);
    long enough = plain * 5 / 4 + 8 - inside;

    for (int b = 0; b < schedule->block_count; b++)
        largest = most(largest, block_size(schedule, b));
    schedule->slice = largest;
    if (across_rounds(schedule) > 2 * plain + 8 - inside)
        return false;
    if (across_rounds(schedule) > enough)
        enough = across_rounds(schedule);
    for (int high = largest; low < high;) {
        schedule->slice = (low + high) / 2;
        if (across_rounds(schedule) <= enough)
            high = schedule->slice;
        else
            low = schedule->slice + 1;
    }
    schedule->slice = low;
    return true;
}

static int *make_order(const struct schedule *schedule, int count, uint64_t stream)
{
    int *numbers = calloc((size_t)count + 1, sizeof *numbers);

    for (int i = 0; i < count && numbers; i++)
        numbers[i] = i;
    if (numbers)
        shuffle(numbers, count, schedule->seed, stream);
    return numbers;
}

static int add_plain(struct schedule *schedule, int enough)
{
    int all = tournament_rounds(schedule->node_count), rv = 0;
    int *order = make_order(schedule, all, UINT64_MAX);

    /* The nodes are in order of their blocks: mix them all, or neighbors stay neighbors. */
    shuffle(schedule->order, schedule->node_count, schedule->seed, UINT64_MAX - 1);
    for (int i = 0; i < schedule->node_count; i++)
        schedule->position[schedule->order[i]] = i;
    for (int i = 0; i < least(all, enough) && rv == 0; i++)
        rv = order ? add_round(schedule, (struct round){ROUND_PLAIN, order[i], 0, 0}) : -1;
    free(order);
    return rv;
}

/* Adds rounds inside the blocks and across in turns. Those across first go through all rounds of
 * the tournament of blocks, then through them again with the next slice or rotation. Returns 0, or
 * -1 if memory is out. */
static int add_blocks(struct schedule *schedule, int enough)
{
    int upper = tournament_rounds(schedule->block_count), inside = inside_rounds(schedule), rv = 0;
    int *upper_order = make_order(schedule, upper, UINT64_MAX);
    int *inside_order = make_order(schedule, inside, UINT64_MAX - 1);
    int *extents = calloc(2 * (size_t)upper + 1, sizeof *extents), next_inside = 0;
    long across = across_rounds(schedule), next_across = 0;

    if (!upper_order || !inside_order || !extents)
        rv = -1;
    for (int i = 0; i < upper && rv == 0; i++)
        pair_extent(schedule, i, &extents[2 * i], &extents[2 * i + 1]);
    for (long turn = 0; rv == 0 && schedule->round_count < enough; turn++) {
        int round = upper_order[turn % upper];
        int slices = extents[2 * round + 1], step = (int)(turn / upper);

        if (next_inside == inside && next_across == across)
            break;
        if (next_inside < inside)
            rv = add_round(schedule,
                           (struct round){ROUND_INSIDE, inside_order[next_inside++], 0, 0});
        if (rv != 0 || schedule->round_count == enough ||
            step / most(slices, 1) >= extents[2 * round])
            continue;
        rv = add_round(schedule, (struct round){ROUND_ACROSS, round, step / slices, step % slices});
        next_across++;
    }
    free(upper_order);
    free(inside_order);
    free(extents);
    return rv;
}

static int add_uplinks(struct schedule *schedule, const struct schedule_request *request,
                       int enough, struct error *err)
{
    int only[2] = {-1, -1};

    if (schedule->block_count < 2)
        return error_set(err,
                         "uplinks are measured between two blocks of nodes: the blocks of %d "
                         "nodes are %s",
                         schedule->node_count, request->blocks ? "one" : "not known");
    for (int i = 0; i < schedule->node_count; i++)
        for (int k = 0; k < 2; k++)
            if (request->blocks[i] == (k ? request->peer_block : request->block))
                only[k] = schedule->block[i];
    if (request->block != request->peer_block && (only[0] < 0 || only[1] < 0))
        return error_set(err, "block %d has no node",
                         only[0] < 0 ? request->block : request->peer_block);
    for (int round = 0; round < tournament_rounds(schedule->block_count); round++) {
        if (schedule->round_count == enough)
            break;
        if (request->block != request->peer_block &&
            tournament_partner(schedule->block_count, round, only[0]) != only[1])
            continue;
        if (add_round(schedule, (struct round){ROUND_ACROSS, round, 0, 0}) != 0)
            return error_set(err, "no memory for the schedule");
    }
    if (request->block != request->peer_block)
        for (int i = 0; i < schedule->node_count; i++)
            if (schedule->block[i] != only[0] && schedule->block[i] != only[1])
                schedule->position[i] = -1;
    return 0;
}

static int add_halves(struct schedule *schedule, int enough)
{
    int half = schedule->node_count / 2;

    for (int i = 0; i < least(half, enough); i++)
        if (add_round(schedule, (struct round){ROUND_HALVES, i, 0, 0}) != 0)
            return -1;
    return 0;
}

static int check(const struct schedule_request *request, struct error *err)
{
    if (request->kind != SCHEDULE_PAIRS && request->kind != SCHEDULE_UPLINKS &&
        request->kind != SCHEDULE_BISECTION)
        return error_set(err, "kind %d of a schedule is not known", (int)request->kind);
    if (request->node_count < 0 || request->most_rounds < 0)
        return error_set(err, "a schedule of %d nodes, %d rounds: neither may be below 0",
                         request->node_count, request->most_rounds);
    if (!(request->confidence >= 0 && request->confidence < 1))
        return error_set(err, "confidence %g of a schedule: 0 for all pairs, or below 1",
                         request->confidence);
    return 0;
}

static int fill(struct schedule *schedule, const struct schedule_request *request,
                struct error *err)
{
    int enough = request->most_rounds > 0 ? request->most_rounds : INT32_MAX, rv;

    if (order_nodes(schedule, request->blocks) != 0)
        return error_set(err, "no memory for the schedule of %d nodes", request->node_count);
    schedule->slice = most(request->node_count, 1);
    if (request->node_count < 2)
        return 0;
    if (request->kind == SCHEDULE_UPLINKS)
        return add_uplinks(schedule, request, enough, err);
    if (request->confidence > 0)
        enough = least(enough, schedule_rounds_for(request->node_count, request->confidence));
    if (request->kind == SCHEDULE_BISECTION)
        rv = add_halves(schedule, request->most_rounds > 0 ? enough : 1);
    else if (schedule->block_count < 2 || !choose_slice(schedule))
        rv = add_plain(schedule, enough);
    else
        rv = add_blocks(schedule, enough);
    return rv == 0 ? 0
                   : error_set(err, "no memory for the rounds of %d nodes", request->node_count);
}

int schedule_make(const struct schedule_request *request, struct schedule **schedule,
                  struct error *err)
{
    struct schedule *made;

    if (check(request, err) != 0)
        return -1;
    made = calloc(1, sizeof *made);
    if (!made)
        return error_set(err, "no memory for a schedule");
    made->node_count = request->node_count;
    made->seed = request->seed;
    if (fill(made, request, err) != 0) {
        schedule_destroy(made);
        return -1;
    }
    *schedule = made;
    return 0;
}

void schedule_destroy(struct schedule *schedule)
{
    if (!schedule)
        return;
    free(schedule->order);
    free(schedule->position);
    free(schedule->block);
    free(schedule->members);
    free(schedule->begins);
    free(schedule->rounds);
    free(schedule);
}
