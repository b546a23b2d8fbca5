/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/choose/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/choose/candidates.h"
#include "collectives/choose/chooser.h"
#include "collectives/engine/window.h"
#include "collectives/precision/precision.h"
#include "lib/constants/collectives_constants.h"

/* Ordered so that every size is near a tried one even if the budget ends early. */
static const size_t benchmark_sizes[] = {65536,   64,       1 << 20, 1024, 8192, 262144,
                                         4 << 20, 16 << 20, 512,     256,  4096};

/* Beyond the caches: at this size only choices that were nearly the best at smaller sizes are
 * tried. Non-temporal stores may take 2.5 times as long at 4 MiB, where all data fits into the
 * caches, and half as long at 16 MiB. */
static const size_t greatest_size = 16 << 20;

enum { BENCHMARK_SIZES = sizeof benchmark_sizes / sizeof *benchmark_sizes };

/* All but the longest calls; the longest; then again the choices that were nearly the best. */
enum phase { MOST, LONGEST, AGAIN, PHASES };

struct benchmarks {
    struct candidates_call call;
    int ranks;
    enum phase phase;
    bool may_code; /* lossless coding can pay */
};

/* The least times of all choices; INFINITY: none. */
struct least {
    double predicted_us, measured_us;
};

static struct least find_least(const struct choice *choices, unsigned count)
{
    struct least least = {INFINITY, INFINITY};

    for (unsigned i = 0; i < count; i++) {
        if (choices[i].predicted_us >= 0)
            least.predicted_us = fmin(least.predicted_us, choices[i].predicted_us);
        if (choices[i].measured_us > 0)
            least.measured_us = fmin(least.measured_us, choices[i].measured_us);
    }
    return least;
}

static enum phase phase_of(const struct least *least)
{
    double time_us = isfinite(least->measured_us) ? least->measured_us : least->predicted_us;

    return time_us > CHOICE_LONGEST_US ? LONGEST : MOST;
}

/* Whether the choice can turn out to be the best. Predictions do not model ranks that wait for
 * processors: there MPI's own and shared memory are tried whatever is predicted, and much of the
 * rest is not, as calls take so long that no time would be left for other sizes. */
static bool is_worth_trying(const struct benchmarks *t, const struct choice *choice,
                            const struct least *least, size_t bytes)
{
    bool is_long = !t->call.is_one_node && bytes > CHOICE_LONG_FROM_BYTES &&
                   isfinite(least->measured_us) && least->measured_us > CHOICE_LONG_US;
    bool is_oversubscribed = plan_is_oversubscribed(collective_topology(t->call.collective));

    if (is_oversubscribed && t->phase != AGAIN && choice->algorithm == NULL)
        return true;
    if (t->phase == AGAIN || is_long || bytes >= greatest_size)
        return choice->measured_us > 0 &&
               choice->measured_us <= least->measured_us * (t->phase == AGAIN ? CHOICE_TOO_NEAR
                                                            : is_long ? CHOICE_NEARLY_BEST_OF_LONG
                                                                      : CHOICE_NEARLY_BEST);
    if (is_oversubscribed && bytes > CHOICE_OVERSUBSCRIBED_FROM_BYTES &&
        choice->measured_us > CHOICE_NEARLY_BEST * least->measured_us)
        return false;
    if (is_oversubscribed && choice_is_shared(choice))
        return true;
    return choice->algorithm == NULL || choice->predicted_us <= CHOICE_CHEAP_US ||
           choice->predicted_us <= CHOICE_WORSE * least->predicted_us;
}

/* Whether the choice has the same plan as with the first segment: blocks fit into either
 * segment. */
static bool is_twin(const struct choice *choice, const struct choice *choices, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (choice->algorithm != NULL && choices[i].algorithm == choice->algorithm &&
            choice->segment_bytes != chooser_segments[0] &&
            choices[i].segment_bytes == chooser_segments[0])
            return choices[i].predicted_us == choice->predicted_us;
    return false;
}

/* The factor for times of the AGAIN phase. It keeps the best of them no slower than before_us, so
 * that they stay comparable with choices that are not tried again. */
static double scale_of(const struct benchmarks *t, const struct candidate *candidates,
                       unsigned count, double before_us)
{
    double best = INFINITY;

    for (unsigned i = 0; i < count; i++)
        if (candidates[i].batches > 0)
            best = fmin(best, candidate_us(&t->call, &candidates[i]));
    return fmin(1, before_us / best);
}

/* The time of a candidate that was tried again: on one node the least of both phases, as among the
 * batches of a benchmark; over links scaled. */
static double again_us(const struct benchmarks *t, const struct candidate *candidate, double scale)
{
    double time_us = candidate_us(&t->call, candidate);

    return t->call.is_one_node ? fmin(time_us, candidate->choice->measured_us) : time_us * scale;
}

/* Adds the candidates' times to the machine; in the AGAIN phase only of those that ran a batch. */
static int add_benchmarks(const struct benchmarks *t, const struct candidate *candidates,
                          unsigned count, size_t bytes, double before_us, struct machine *machine,
                          struct error *err)
{
    double scale = scale_of(t, candidates, count, before_us);

    for (unsigned i = 0; i < count; i++) {
        const struct choice *choice = candidates[i].choice;
        struct machine_benchmark benchmark = {
            .kind = t->call.kind,
            .wire = t->call.wire,
            .segment_bytes = choice->segment_bytes,
            .bytes = bytes,
            .time_us = t->phase == AGAIN ? again_us(t, &candidates[i], scale)
                                         : candidate_us(&t->call, &candidates[i])};

        if (t->phase == AGAIN && candidates[i].batches == 0)
            continue;
        snprintf(benchmark.algorithm, sizeof benchmark.algorithm, "%s",
                 choice->algorithm != NULL ? choice->algorithm->name : MACHINE_MPI);
        if (machine_add_benchmark(machine, &benchmark, err) < 0)
            return -1;
    }
    return 0;
}

/* Whether time was up before every candidate that is not given up had run a batch. */
static bool is_cut_short(const struct candidate *candidates, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (candidates[i].batches == 0 && !candidates[i].is_given_up)
            return true;
    return false;
}

static bool has_mpi(const struct choice *choices, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (choices[i].algorithm == NULL)
            return true;
    return false;
}

static int try_size(struct benchmarks *t, struct chooser *chooser, size_t bytes,
                    struct machine *machine, struct error *err)
{
    struct plan_shape shape = {
        .kind = t->call.kind,
        .element_bytes = element_bytes(t->call.type),
        .rank = t->call.rank,
        .ranks = t->ranks,
        .wire = t->call.wire,
        .topology = collective_topology(t->call.collective),
    };
    struct choice choices[CHOICES];
    struct candidate candidates[CHOICES];
    struct least least;
    unsigned count, wanted = 0;
    int tried, status;

    t->call.block = bytes / element_bytes(t->call.type) /
                    (collective_kind_has_blocks(t->call.kind) ? (size_t)t->ranks : 1);
    if (t->call.block == 0)
        return 0;
    shape.count = t->call.block;
    count = chooser_list(chooser, &shape, t->call.type, choices);
    status = count > 0 && isnan(choices[0].predicted_us) ? error_set(err, "out of memory") : 0;
    if (collective_agree(t->call.comm, status, err) < 0)
        return -1;
    least = find_least(choices, count);
    if (t->phase != AGAIN && t->phase != phase_of(&least))
        return 0;
    if (t->call.wire == WIRE_AS_IS && !has_mpi(choices, count) && count < CHOICES)
        choices[count++] = (struct choice){NULL, 0, -1, 0};
    for (unsigned i = 0; i < count; i++)
        if (is_worth_trying(t, &choices[i], &least, bytes) && !is_twin(&choices[i], choices, count))
            candidates[wanted++] = (struct candidate){.choice = &choices[i]};
    if (t->phase == AGAIN && wanted < 2)
        return 0;
    tried = candidates_try(&t->call, t->phase == AGAIN, candidates, wanted, err);
    if (tried <= 0 || (t->phase == AGAIN && is_cut_short(candidates, wanted)))
        return tried < 0 ? -1 : 0;
    status = add_benchmarks(t, candidates, (unsigned)tried, chooser_bytes(&shape),
                            least.measured_us, machine, err);
    return collective_agree(t->call.comm, status, err) < 0 ? -1 : tried;
}

static int try_kinds(struct benchmarks *t, struct chooser *chooser, size_t bytes,
                     struct machine *machine, struct error *err)
{
    int tried = 0;

    for (int kind = 0; kind < COLLECTIVE_KINDS; kind++) {
        int more;

        t->call.kind = (enum collective_kind)kind;
        t->call.wire = WIRE_AS_IS;
        t->call.type = ELEMENT_FP32;
        more = try_size(t, chooser, bytes, machine, err);
        if (more >= 0 && t->may_code && bytes >= CHOICE_CODED_LEAST_BYTES) {
            tried += more;
            t->call.wire = WIRE_LOSSLESS;
            t->call.type = ELEMENT_BF16;
            more = try_size(t, chooser, bytes, machine, err);
        }
        if (more < 0)
            return -1;
        tried += more;
    }
    return tried;
}

/* Whether a message that leaves a node is faster coded. */
static bool may_code(const struct machine *machine, const struct layout *layout)
{
    enum link_class farthest = layout_farthest(layout);

    return farthest != LINK_NODE && machine_has_codec(machine, CODEC_BF16) &&
           machine_lossless_us(machine, farthest, CODEC_BF16, 1 << 20) <
               machine_link_us(machine, farthest, 1 << 20);
}

/* Tries all sizes. Returns the number of candidates tried, or -1. */
static int try_sizes(struct benchmarks *t, struct chooser *chooser, struct machine *machine,
                     struct error *err)
{
    int tried = 0;

    for (unsigned i = 0; i < BENCHMARK_SIZES; i++) {
        int more = try_kinds(t, chooser, benchmark_sizes[i], machine, err);

        if (more < 0)
            return -1;
        tried += more;
    }
    return tried;
}

static int try_all(struct benchmarks *t, const struct layout *layout, struct machine *machine,
                   struct error *err)
{
    struct chooser *chooser =
        chooser_create(machine, layout, collective_topology(t->call.collective));
    int tried = 0, more = 0, status = chooser != NULL ? 0 : error_set(err, "out of memory");

    if (collective_agree(t->call.comm, status, err) < 0) {
        chooser_destroy(chooser);
        return -1;
    }
    chooser_allow_mpi(chooser, true); /* later jobs, which may allow it, use the figures too */
    t->may_code = may_code(machine, layout);
    t->call.is_one_node = layout_farthest(layout) == LINK_NODE;
    for (unsigned phase = MOST; phase < PHASES && more >= 0; phase++) {
        t->phase = (enum phase)phase;
        more = try_sizes(t, chooser, machine, err);
        tried += t->phase != AGAIN ? more : 0;
    }
    chooser_destroy(chooser);
    return more < 0 ? -1 : tried;
}

/* Fills with bf16 numbers distributed as gradients are; two of them also make one fp32 number. */
static void fill(char *start, size_t bytes)
{
    enum { SOME = 1 << 14 };
    size_t some = SOME * element_bytes(ELEMENT_BF16);
    static float values[SOME];

    measure_fill(values, SOME);
    precision_narrow(PRECISION_BF16, values, SOME, start);
    for (size_t at = some; at < bytes; at += some)
        memcpy(start + at, start, some);
}

/* Touches all pages of the window, so that none is allocated while calls are timed. */
static int touch_window(const struct benchmarks *t, struct error *err)
{
    struct collective_call call = {.kind = COLLECTIVE_ALLREDUCE,
                                   .type = ELEMENT_FP32,
                                   .op = REDUCE_SUM,
                                   .in = t->call.in,
                                   .out = t->call.out,
                                   .count = PLAN_WINDOW_BYTES / sizeof(float),
                                   .segment_bytes = PLAN_WINDOW_BYTES / 2,
                                   .algorithm = algorithm_find(COLLECTIVE_ALLREDUCE, "shared")};
    bool has_window = collective_topology(t->call.collective)->has_window;
    int status = has_window ? collective_prepare(t->call.collective, &call, err) : 0;

    status = collective_agree(t->call.comm, status, err);
    for (int slot = 0; slot < WINDOW_SLOTS && has_window && status == 0; slot++)
        status = collective_run(t->call.collective, &call, err);
    return collective_agree(t->call.comm, status, err);
}

int measure_benchmarks(MPI_Comm comm, const struct layout *layout, double budget_s,
                       struct machine *machine, struct error *err)
{
    enum { ROOM = 16 << 20 };
    struct benchmarks t = {
        .call = {.comm = comm, .in = aligned_alloc(64, ROOM), .out = aligned_alloc(64, ROOM)}};
    bool has_memory = t.call.in != NULL && t.call.out != NULL;
    int tried = -1;

    PMPI_Comm_rank(comm, &t.call.rank);
    PMPI_Comm_size(comm, &t.ranks);
    t.call.deadline = PMPI_Wtime() + budget_s;
    if (collective_agree(comm, has_memory ? 0 : error_set(err, "out of memory"), err) < 0) {
        tried = -1;
    } else if (t.ranks == 1) {
        tried = 0;
    } else if (collective_create(comm, NULL, &t.call.collective, err) == 0) {
        fill(t.call.in, ROOM);
        memset(t.call.out, 0, ROOM);
        tried = touch_window(&t, err) == 0 ? try_all(&t, layout, machine, err) : -1;
        collective_destroy(t.call.collective);
    }
    free(t.call.in);
    free(t.call.out);
    return tried;
}
