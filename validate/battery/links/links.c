/* SPDX-License-Identifier: Apache-2.0 */
/* muster-links: latency and bandwidth of every pair of nodes on every rail, both directions. */
#include "config.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validate/battery/links/linkreport.h"
#include "validate/battery/links/meeting.h"
#include "validate/battery/program.h"
#include "validate/battery/tournament.h"

struct links_options {
    const char *rails, *pairs;
    long rounds, repeats; /* 0: not given */
    long long sample_bytes;
    bool is_quick;
    double floor_percent; /* 0: no judgement */
};

static int take_rails(const char *value, void *context, struct error *err)
{
    struct hostlist list;

    if (hostlist_expand(value, &list, err) != 0)
        return -1;
    hostlist_clear(&list);
    ((struct links_options *)context)->rails = value;
    return 0;
}

static int take_pairs(const char *value, void *context, struct error *err)
{
    ((struct links_options *)context)->pairs = value;
    for (const char *pair = value; *pair;) {
        size_t length = strcspn(pair, ","), first = strcspn(pair, ":,");

        if (first == 0 || first + 1 >= length || pair[first] != ':')
            return error_set(err, "expected NODE:NODE,..., found \"%s\"", value);
        pair += length + (pair[length] == ',');
    }
    return *value ? 0 : error_set(err, "expected NODE:NODE,..., found nothing");
}

static int take_rounds(const char *value, void *context, struct error *err)
{
    return option_number(value, 1, INT_MAX, &((struct links_options *)context)->rounds, err);
}

static int take_repeats(const char *value, void *context, struct error *err)
{
    return option_number(value, 1, PATH_SAMPLES, &((struct links_options *)context)->repeats, err);
}

static int take_bytes(const char *value, void *context, struct error *err)
{
    return option_size(value, 1, 1LL << 40, &((struct links_options *)context)->sample_bytes, err);
}

static int take_quick(const char *value, void *context, struct error *err)
{
    (void)value;
    (void)err;
    ((struct links_options *)context)->is_quick = true;
    return 0;
}

static int take_floor(const char *value, void *context, struct error *err)
{
    long percent;

    if (option_number(value, 1, 100, &percent, err) != 0)
        return -1;
    ((struct links_options *)context)->floor_percent = (double)percent;
    return 0;
}

static const struct option_spec option_table[] = {
    {"rails", "LIST",
     "drive these interfaces: eth[1-2] (those the configuration or the\n"
     "node's hardware tells)",
     take_rails},
    {"pairs", "A:B,C:D", "only these pairs of nodes, one after the other", take_pairs},
    {"rounds", "K", "only the first K rounds of the tournament", take_rounds},
    {"repeats", "K", "samples of each bandwidth, 1 to 64 (5; quick 4)", take_repeats},
    {"bytes", "SIZE", "bytes of a sample (what takes 80 ms; quick 40 ms)", take_bytes},
    {"floor", "PERCENT", "fail a bandwidth below this share of the nominal speed", take_floor},
    {"quick", NULL, "fewer and shorter samples", take_quick},
    {NULL, NULL, NULL, NULL},
};

static const struct program_spec spec = {
    "muster-links", "links",
    "Measures latency and bandwidth between all pairs of nodes on every rail, in both directions.\n"
    "One rank per node works; further ones wait.",
    option_table, true};

static struct path_plan make_plan(const struct links_options *options)
{
    struct path_plan plan = {
        .samples = options->is_quick ? 4 : 5,
        .sample_s = options->is_quick ? 0.04 : 0.08,
        .warmup_s = options->is_quick ? 0.02 : 0.03,
        .latency_s = options->is_quick ? 0.01 : 0.02,
        .sample_bytes = options->sample_bytes,
        .connect_s = options->is_quick ? 3 : 4,
        .timeout_s = 5,
    };

    if (options->repeats > 0)
        plan.samples = (int)options->repeats;
    return plan;
}

static void choose_rails(struct program *program, const char *rails)
{
    struct error err;

    if (!rails || !program->inventory)
        return;
    hostlist_clear(&program->conf.fabric_interfaces);
    if (hostlist_expand(rails, &program->conf.fabric_interfaces, &err) != 0)
        watch_fault("%s", err.text);
    fabric_choose(program->inventory, &program->conf, program->fabric);
}

/* The number of a node by its name, length characters; -1: takes no part. */
static int node_number(const struct program *program, const char *name, size_t length)
{
    for (int node = 0; node < program->node_count; node++)
        if (strlen(program->node_name[node]) == length &&
            strncmp(program->node_name[node], name, length) == 0)
            return node;
    return -1;
}

/* Pair number `index` of "A:B,C:D": 1 found, 0 no more. A node that takes no part is -1. */
static int pair_at(const struct program *program, const char *pairs, int index, int nodes[2])
{
    for (; *pairs; index--) {
        size_t length = strcspn(pairs, ","), first = strcspn(pairs, ":");

        if (index == 0) {
            nodes[0] = node_number(program, pairs, first);
            nodes[1] = node_number(program, pairs + first + 1, length - first - 1);
            return 1;
        }
        pairs += length + (pairs[length] == ',');
    }
    return 0;
}

static int round_count(const struct program *program, const struct links_options *options)
{
    int rounds = tournament_rounds(program->node_count), nodes[2];

    if (options->pairs)
        for (rounds = 0; pair_at(program, options->pairs, rounds, nodes);)
            rounds++;
    if (options->rounds > 0 && options->rounds < rounds)
        rounds = (int)options->rounds;
    return rounds;
}

static int partner_in(const struct program *program, const struct links_options *options, int round)
{
    int nodes[2];

    if (!options->pairs)
        return tournament_partner(program->node_count, round, program->node);
    pair_at(program, options->pairs, round, nodes);
    if (nodes[0] == nodes[1])
        return TOURNAMENT_BYE;
    if (nodes[0] == program->node)
        return nodes[1];
    return nodes[1] == program->node ? nodes[0] : TOURNAMENT_BYE;
}

static void check_pairs(const struct program *program, const char *pairs)
{
    int nodes[2];

    for (int i = 0; pairs && pair_at(program, pairs, i, nodes); i++)
        if (nodes[0] < 0 || nodes[1] < 0 || nodes[0] == nodes[1])
            linkreport_unknown("pair %d of %s cannot be measured: both nodes must take part, and "
                               "differ",
                               i + 1, pairs);
}

/* Rank 0 decides for all whether there is time for another round like the longest so far. */
static bool goes_on(struct program *program, double longest_s)
{
    int go = !watch_time_is_up(1.2 * longest_s);
    MPI_Request request;

    MPI_Ibcast(&go, 1, MPI_INT, 0, program->leaders, &request);
    program_wait(program, &request, -1);
    return go;
}

static void play(struct program *program, const struct links_options *options)
{
    struct path_plan plan = make_plan(options);
    struct link_results results = {NULL, 0, 0};
    int rounds = round_count(program, options), round;
    double longest_s = 0;
    uint64_t session = 1;
    struct rails rails;

    program_phase(program, "links open");
    choose_rails(program, options->rails);
    rails_open(program, &rails, &results);
    linkreport_gather(program, &results, options->floor_percent);
    for (round = 0; round < rounds && goes_on(program, longest_s); round++) {
        int partner = partner_in(program, options, round);
        double start = MPI_Wtime();

        program_phase(program, "links round %d of %d", round + 1, rounds);
        if (program->rank == 0)
            output_progress("round %d of %d", round + 1, rounds);
        if (partner >= 0)
            meeting_hold(program, &rails, partner, &plan, &session, &results);
        else
            session += 2 * MEETING_RAILS;
        linkreport_gather(program, &results, options->floor_percent);
        longest_s = fmax(longest_s, MPI_Wtime() - start);
    }
    if (program->rank == 0 && round < rounds)
        linkreport_unknown("the time limit of %g s is over: %d of %d rounds measured",
                           program->common.time_limit_s, round, rounds);
    rails_close(&rails);
    free(results.items);
}

int main(int argc, char **argv)
{
    struct links_options options = {0};
    struct program program;

    channel_prepare();
    program_start(&program, &spec, &options, argc, argv);
    if (program.rank == 0) {
        check_pairs(&program, options.pairs);
        if (program.node_count < 2)
            linkreport_unknown("only %s takes part: links need two nodes", program.node_name[0]);
    }
    if (program.is_leader)
        play(&program, &options);
    return program_finish(&program);
}
