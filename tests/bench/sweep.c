/* SPDX-License-Identifier: Apache-2.0 */

/* Times our collectives, for tests/bench/collectives.
 *
 * sweep KIND,... BYTES,...: each algorithm that applies, with each segment size that the chooser
 * has; "mpi", MPI's own choice; "mpi:ALGORITHM", each algorithm of Open MPI (open_mpi.h); "memory",
 * the least memory traffic (least_work()); and "chosen:NAME", the figures of the candidate that the
 * chooser picks.
 *
 * sweep KIND,... BYTES,... WIRE TYPE [FILE]: each algorithm without coding and, named WIRE+NAME,
 * with this wire format.
 *
 * Times MPI_CALL_ROUNDS loops of calls of each candidate in turn, without barriers between calls,
 * in us per call of the slowest rank. Rank 0 prints a line "KIND BYTES NAME US ..."; NAME/SEGMENT
 * if there are several segment sizes. Sums, root 0. Numbers are fp32 from -1 to 1; with WIRE they
 * are of TYPE, from the file or distributed like gradients. */

#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/choose/measure.h"
#include "collectives/choose/tuned.h"
#include "collectives/precision/precision.h"
#include "tests/bench/least_work.h"
#include "tests/bench/mpi_calls.h"
#include "tests/bench/open_mpi.h"

enum { CANDIDATES = 96, NAME = 64, OPEN_MPI_ALGORITHMS = 16 };

/* The smaller the segments, the less coding is waited for. The chooser has fewer sizes. */
static const size_t wire_segments[] = {256 << 10, 128 << 10, 64 << 10, 32 << 10};

struct sweep {
    struct tuned_comm comm;
    int rank, ranks;
    enum collective_kind kind;
    int mpi_kind;
    size_t block; /* elements of a rank's block if the collective has blocks, else of all */
    enum element_type type;
    void *in, *out;
    /* from index 1: uses this algorithm of Open MPI */
    MPI_Comm algorithm_comms[OPEN_MPI_ALGORITHMS];
};

struct candidate {
    char name[NAME];
    const struct algorithm *algorithm; /* NULL: MPI's collective on mpi, or least_work() */
    MPI_Comm mpi;
    bool is_memory; /* least_work() */
    size_t segment_bytes;
    enum wire_format wire;
    int calls;
    double first_us;
    double us[MPI_CALL_ROUNDS];
};

struct timed {
    const struct sweep *sweep;
    const struct candidate *candidate;
};

static void run_once(void *context)
{
    const struct timed *timed = context;
    const struct sweep *s = timed->sweep;
    const struct candidate *candidate = timed->candidate;
    struct collective_call call = {.kind = s->kind,
                                   .type = s->type,
                                   .op = REDUCE_SUM,
                                   .in = s->in,
                                   .out = s->out,
                                   .count = s->block,
                                   .algorithm = candidate->algorithm,
                                   .segment_bytes = candidate->segment_bytes,
                                   .wire = candidate->wire};
    struct error err;

    if (candidate->is_memory)
        least_work(s->kind, s->ranks, s->in, s->out,
                   s->block * sizeof(float) *
                       (mpi_call_has_blocks(s->mpi_kind) ? (size_t)s->ranks : 1));
    else if (candidate->algorithm == NULL)
        mpi_call(s->mpi_kind, candidate->mpi, s->in, s->out, (int)s->block);
    else if (collective_run(s->comm.collective, &call, &err) < 0) {
        fprintf(stderr, "sweep: %s: %s\n", candidate->name, err.text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Calls that take longer leave nothing in the caches for the next call: their loops have one call,
 * and only one call at the beginning is not timed. */
static const double long_us = 20000;

/* Whether the candidate is left out: its call takes long, and much longer than the best of the same
 * group, ours or Open MPI's. So sizes with calls of a second are swept in minutes. */
static bool is_skipped(const struct candidate *candidate, const struct candidate *candidates,
                       unsigned count, unsigned chosen)
{
    static const double longer = 1.5;

    if (candidate->first_us < long_us || candidate == &candidates[chosen] || candidate->is_memory ||
        strcmp(candidate->name, "mpi") == 0)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!candidates[i].is_memory &&
            (candidates[i].algorithm == NULL) == (candidate->algorithm == NULL) &&
            longer * candidates[i].first_us < candidate->first_us)
            return true;
    return false;
}

/* Times all candidates in turn and prints them. chosen: the index of the chooser's pick, CANDIDATES
 * without one. */
static void time_all(const struct sweep *s, struct candidate *candidates, unsigned count,
                     unsigned chosen, size_t bytes)
{
    for (int round = -2; round < MPI_CALL_ROUNDS; round++)
        for (unsigned i = 0; i < count; i++) {
            struct candidate *c = &candidates[i];
            struct timed timed = {s, c};
            bool is_long = round > -2 && c->first_us >= long_us;
            double time_us;

            if (is_long && (round == -1 || is_skipped(c, candidates, count, chosen)))
                continue;
            time_us = mpi_call_time_us(run_once, &timed, is_long ? 0 : c->calls, c->calls);
            if (round == -2)
                c->first_us = time_us;
            else if (round == -1)
                c->calls = mpi_call_loop(time_us);
            else
                c->us[round] = time_us;
        }
    for (unsigned i = 0; i < count && s->rank == 0; i++)
        if (!is_skipped(&candidates[i], candidates, count, chosen))
            mpi_call_print(collective_kind_name(s->kind), bytes, candidates[i].name,
                           candidates[i].us);
}

/* A candidate of one algorithm, or of MPI's own choice if algorithm is NULL. before: a prefix of
 * its name. */
static struct candidate candidate_of(const char *before, const struct algorithm *algorithm,
                                     size_t segment_bytes)
{
    struct candidate candidate = {
        .algorithm = algorithm, .mpi = MPI_COMM_WORLD, .segment_bytes = segment_bytes, .calls = 1};

    if (algorithm == NULL || segment_bytes == 0)
        snprintf(candidate.name, sizeof candidate.name, "%s",
                 algorithm != NULL ? algorithm->name : "mpi");
    else
        snprintf(candidate.name, sizeof candidate.name, "%s%s/%zu", before, algorithm->name,
                 segment_bytes);
    return candidate;
}

static struct plan_shape shape_of(const struct sweep *s)
{
    return (struct plan_shape){.kind = s->kind,
                               .element_bytes = element_bytes(s->type),
                               .rank = s->rank,
                               .ranks = s->ranks,
                               .count = s->block,
                               .topology = collective_topology(s->comm.collective)};
}

/* Lists all candidates of the chooser and "memory". Sets *chosen to the index of the chooser's
 * pick. Returns the number of candidates. */
static unsigned list_ours(struct sweep *s, struct candidate *candidates, unsigned *chosen)
{
    struct plan_shape shape = shape_of(s);
    struct choice choice = chooser_pick(s->comm.chooser, &shape, ELEMENT_FP32), choices[CHOICES];
    unsigned found = chooser_list(s->comm.chooser, &shape, ELEMENT_FP32, choices), count = 0;

    *chosen = CANDIDATES;
    for (unsigned i = 0; i < found; i++) {
        const struct choice *one = &choices[i];

        if (one->algorithm == NULL) /* MPI's own choice, which is added below */
            continue;
        if (one->algorithm == choice.algorithm && one->segment_bytes == choice.segment_bytes)
            *chosen = count;
        candidates[count++] = candidate_of("", one->algorithm, one->segment_bytes);
    }
    if (choice.algorithm == NULL)
        *chosen = count;
    candidates[count++] = candidate_of("", NULL, 0);
    if (*chosen == CANDIDATES) {
        *chosen = count;
        candidates[count++] = candidate_of("", choice.algorithm, choice.segment_bytes);
    }
    candidates[count++] = (struct candidate){.name = "memory", .is_memory = true, .calls = 1};
    return count;
}

/* Lists the algorithms of Open MPI that work with this number of ranks. Returns their number. */
static unsigned list_open_mpi(const struct sweep *s, struct candidate *candidates)
{
    unsigned count = 0;

    for (int i = 1; i < OPEN_MPI_ALGORITHMS && i <= open_mpi_algorithms(s->mpi_kind); i++) {
        struct candidate *candidate = &candidates[count];

        *candidate = candidate_of("", NULL, 0);
        memcpy(candidate->name, "mpi:", sizeof "mpi:");
        open_mpi_name(s->mpi_kind, i, candidate->name + strlen("mpi:"), NAME - (int)strlen("mpi:"));
        candidate->mpi = s->algorithm_comms[i];
        count += mpi_call(s->mpi_kind, candidate->mpi, s->in, s->out, (int)s->block) == MPI_SUCCESS;
    }
    return count;
}

/* The chooser's pick if numbers may be sent with lossless coding. */
static struct candidate candidate_auto(const struct sweep *s)
{
    struct plan_shape shape = shape_of(s);
    struct wire_choice wire;
    struct choice choice = chooser_pick_wire(s->comm.chooser, &shape, s->type, &wire);
    struct candidate candidate =
        candidate_of(wire.wire == WIRE_LOSSLESS ? "auto:lossless+" : "auto:", choice.algorithm,
                     choice.segment_bytes);

    candidate.wire = wire.wire;
    return candidate;
}

/* Lists all algorithms that support the wire format, each without and with it; for lossless coding
 * the chooser's pick, too. Returns the number of candidates. */
static unsigned list_wire(const struct sweep *s, enum wire_format wire,
                          struct candidate *candidates)
{
    enum { SEGMENTS = sizeof wire_segments / sizeof *wire_segments };
    char before[NAME];
    unsigned count = 0;

    if (wire == WIRE_LOSSLESS)
        candidates[count++] = candidate_auto(s);
    snprintf(before, sizeof before, "%s+", wire_name(wire));
    for (const struct algorithm *a = algorithms; a->name != NULL; a++) {
        struct plan_shape shape = shape_of(s);

        shape.wire = wire;
        for (unsigned i = 0; i < (a->is_whole ? 1 : SEGMENTS); i++) {
            if (count > CANDIDATES - 2 || !algorithm_applies(a, &shape))
                continue;
            candidates[count++] = candidate_of("", a, wire_segments[i]);
            candidates[count] = candidate_of(before, a, wire_segments[i]);
            candidates[count++].wire = wire;
        }
    }
    return count;
}

static void sweep_size(struct sweep *s, size_t bytes, enum wire_format wire)
{
    struct candidate candidates[CANDIDATES];
    unsigned count, chosen = CANDIDATES;

    s->mpi_kind = mpi_call_find(collective_kind_name(s->kind));
    s->block =
        bytes / element_bytes(s->type) / (mpi_call_has_blocks(s->mpi_kind) ? (size_t)s->ranks : 1);
    s->block += s->block == 0;
    if (wire != WIRE_AS_IS)
        count = list_wire(s, wire, candidates);
    else {
        count = list_ours(s, candidates, &chosen);
        count += list_open_mpi(s, candidates + count);
    }
    time_all(s, candidates, count, chosen, bytes);
    if (chosen < count && s->rank == 0) {
        char name[NAME + sizeof "chosen:"];

        snprintf(name, sizeof name, "chosen:%s", candidates[chosen].name);
        mpi_call_print(collective_kind_name(s->kind), bytes, name, candidates[chosen].us);
    }
}

/* Fills the input with repetitions of its first `have` bytes. */
static void repeat(const struct sweep *s, size_t have, size_t bytes)
{
    for (size_t at = have; at < bytes; at += have)
        memcpy((char *)s->in + at, s->in, bytes - at < have ? bytes - at : have);
}

/* Fills the input with numbers distributed like gradients. */
static void fill(const struct sweep *s, size_t bytes)
{
    enum { SOME = 1 << 16 };
    size_t count = bytes / element_bytes(s->type), some = count < SOME ? count : SOME;
    float *values = malloc(SOME * sizeof *values);

    if (values == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    measure_fill(values, SOME);
    if (s->type == ELEMENT_FP32)
        memcpy(s->in, values, some * sizeof *values);
    else
        precision_narrow(s->type == ELEMENT_BF16 ? PRECISION_BF16 : PRECISION_FP16, values, some,
                         s->in);
    repeat(s, some * element_bytes(s->type), bytes);
    free(values);
}

/* Fills the input with the numbers of a file, repeated if they are too few. */
static void fill_from(const struct sweep *s, const char *path, size_t bytes)
{
    FILE *file = fopen(path, "rb");
    size_t have = file != NULL ? fread(s->in, 1, bytes, file) : 0;

    have -= have % element_bytes(s->type);
    if (have == 0) {
        fprintf(stderr, "sweep: %s: no numbers\n", path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    repeat(s, have, bytes);
    fclose(file);
}

static void stop(const char *word, const char *expected)
{
    fprintf(stderr, "sweep: found \"%s\", expected %s\n", word, expected);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int argc, char **argv)
{
    struct tuned_options options = {.with_mpi = true};
    struct tuned *tuned = NULL;
    struct sweep s = {.type = ELEMENT_FP32};
    enum wire_format wire = WIRE_AS_IS;
    size_t most = 8, bytes;
    struct error err;
    char *kinds, *rest;
    int provided;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s.ranks);
    if (argc != 3 && argc != 5 && argc != 6) {
        fprintf(stderr, "usage: sweep KIND,... BYTES,... [WIRE TYPE [FILE]]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (argc >= 5) {
        if (!element_parse(argv[4], &s.type))
            stop(argv[4], "a type of elements");
        if (!wire_parse(argv[3], &wire) || wire == WIRE_AS_IS || !wire_applies(wire, s.type))
            stop(argv[3], "a wire of the type");
    }
    for (const char *size = argv[2]; size != NULL;) {
        size = mpi_call_next_size(size, &bytes);
        most = bytes > most ? bytes : most;
    }
    most = (most + (size_t)s.ranks * sizeof(float) + 63) / 64 * 64;
    s.in = mpi_call_numbers(most);
    s.out = mpi_call_numbers(most);
    if (argc == 6)
        fill_from(&s, argv[5], most);
    else if (wire != WIRE_AS_IS)
        fill(&s, most);
    options.with_mpi = wire == WIRE_AS_IS; /* MPI has no wire formats, and no sums of bf16 */
    if (tuned_create(MPI_COMM_WORLD, &options, &tuned, &err) < 0 ||
        tuned_comm_create(tuned, MPI_COMM_WORLD, &s.comm, &err) < 0) {
        fprintf(stderr, "sweep: %s\n", err.text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    for (int i = 1; i < OPEN_MPI_ALGORITHMS && wire == WIRE_AS_IS; i++)
        s.algorithm_comms[i] = open_mpi_comm(i);
    mpi_call_settle();
    kinds = argv[1];
    for (const char *kind = strtok_r(kinds, ",", &rest); kind != NULL;
         kind = strtok_r(NULL, ",", &rest)) {
        if (!collective_kind_parse(kind, &s.kind))
            stop(kind, "a collective");
        for (const char *size = argv[2]; size != NULL;) {
            size = mpi_call_next_size(size, &bytes);
            sweep_size(&s, bytes, wire);
        }
    }
    for (int i = 1; i < OPEN_MPI_ALGORITHMS && wire == WIRE_AS_IS; i++)
        MPI_Comm_free(&s.algorithm_comms[i]);
    MPI_T_finalize();
    tuned_comm_destroy(&s.comm);
    tuned_destroy(tuned);
    free(s.in);
    free(s.out);
    MPI_Finalize();
    return 0;
}
