/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/certification.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/statistics.h"
#include "validate/schedule/schedule.h"

/* As muster-links and muster certify have them. */
enum { REPEATS = 5, AGAIN_REPEATS = 15, TRIES = 4, REPEATS_MOST = 15 };

/* Where there is time: what lies between two transfers, and before suspects are measured again, at
 * least and by chance. */
static const double gap_s = 0.06, launch_s = 1.5, launch_chance_s = 2;

struct simulation {
    const struct run_plan *plan;
    struct run_result *result;
    uint64_t random;
    struct flow *flows;
    bool *is_busy;       /* [nodes] this round's pair run whose lower node it is */
    double *hiccups;     /* [nodes] what this round leaves of each node's speed */
    uint64_t *pair_runs; /* [nodes] random, of this round's pair run whose lower node it is */
    int *loads;          /* [nodes] of each node's pair in this round, schedule_pair_load() */
    const char **rails;  /* names */
    int again_pairs, again_rounds;
    double now_s, round_end_s; /* of the clock, where there is time */
    bool is_short;             /* measured as at level quick: all pairs once more, some suspects */
};

static double processor_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void add(struct simulation *simulation, const struct record *record)
{
    if (records_add(&simulation->result->records, record) != 0)
        exit(3);
}

/* What a rail that is slow at times has at this moment, as a share of the NIC. */
static double at_times(struct simulation *simulation, const struct flow *flow)
{
    const struct run_plan *plan = simulation->plan;
    double share = 1;

    for (int i = 0; i < plan->fault_count; i++) {
        const struct fault *fault = &plan->faults[i];

        if (fault->kind == FAULT_INTERMITTENT && fault->often > 0 && fault->rail == flow->rail &&
            (fault->node == flow->from || fault->node == flow->to) &&
            sim_uniform(&simulation->random) < fault->often)
            share = fmin(share, fault->share);
    }
    return share;
}

static bool is_inconsistent(const struct run_plan *plan, int node)
{
    for (int i = 0; i < plan->fault_count; i++)
        if (plan->faults[i].kind == FAULT_INCONSISTENT && plan->faults[i].node == node)
            return true;
    return false;
}

/* The repeats of a flow that has that much, with made-up noise or with that of a recorded pair run.
 */
static void repeat(struct simulation *simulation, const struct flow *flow, int repeats,
                   struct record *record)
{
    const struct noise *noise = &simulation->plan->noise;
    double samples[REPEATS_MOST];
    uint64_t *random = &simulation->random;

    for (int i = 0; i < repeats; i++) {
        double mbps =
            fmin(flow->mbps, at_times(simulation, flow) * simulation->plan->fabric->nic_mbps);

        mbps *= fmin(simulation->hiccups[flow->from], simulation->hiccups[flow->to]);
        if (!noise->record) {
            if (sim_uniform(random) < noise->dip)
                mbps *= 0.3 + 0.7 * sim_uniform(random);
            mbps *= exp(noise->sigma * sim_normal(random) - 0.02);
        }
        samples[i] = mbps;
    }
    record->stalled = 0;
    record->value = statistics_median(samples, (size_t)repeats);
    statistics_interval(samples, (size_t)repeats, &record->low, &record->high);
    if (noise->record) {
        int low = flow->from < flow->to ? flow->from : flow->to;
        struct noise_share share = noise_figure(noise->record, simulation->pair_runs[low],
                                                2 * flow->rail + (flow->from == low));

        record->value *= share.value;
        record->low *= share.low;
        record->high *= share.high;
    }
}

/* When the flow's path is slow; NULL: never. */
static const struct stream_timing *timing_of(const struct run_plan *plan, const struct flow *flow)
{
    for (int i = 0; i < plan->fault_count; i++) {
        const struct fault *fault = &plan->faults[i];

        if (fault->kind == FAULT_INTERMITTENT && fault->timing.period_s > 0 &&
            fault->rail == flow->rail &&
            (fault->node == flow->from || (fault->node == flow->to && !fault->is_send_only)))
            return &fault->timing;
    }
    return NULL;
}

/* The same as repeat() where there is time: a stream, with the noise of a recorded pair run.
 * Returns what the receiver had in the best part. */
static double stream(struct simulation *simulation, const struct flow *flow, int samples,
                     struct record *record)
{
    const struct run_plan *plan = simulation->plan;
    bool is_quick = plan->is_quick || simulation->is_short;
    struct stream_plan how = stream_plan(is_quick, samples);
    int low = flow->from < flow->to ? flow->from : flow->to;
    struct noise_share share = noise_figure(plan->noise.record, simulation->pair_runs[low],
                                            2 * flow->rail + (flow->from == low));
    double now_s = simulation->now_s, best_mbps;

    stream_run(&how, flow->mbps, timing_of(plan, flow), &now_s, record, &best_mbps);
    simulation->round_end_s = fmax(simulation->round_end_s, now_s);
    record->value *= share.value;
    record->low *= share.low;
    record->high *= share.high;
    record->stalled = 0;
    if (plan->noise.busy > 0) {
        struct noise_preemption shares =
            noise_preempt(simulation->is_busy[low], &simulation->random);

        record->value *= shares.value;
        record->low *= shares.low;
        record->high *= shares.high;
        record->stalled = shares.stalled;
        best_mbps *= shares.high;
    }
    return best_mbps;
}

/* What a stream has of a cable that it shares with the other rails of its pair is not even, nor the
 * same all the time. As in the lab, 160 streams of two rails (2026-11-28): means within an eighth
 * of the half, quartiles of the parts from half of the mean up and from 1.4 of it. */
static void share_unevenly(struct simulation *simulation, const struct flow *flow,
                           struct record *record)
{
    int low = flow->from < flow->to ? flow->from : flow->to;
    uint64_t key = simulation->pair_runs[low] + (uint64_t)(flow->from == low);
    double more = 1 + 0.12 * fmax(fmin(sim_normal(&key), 3), -3);
    bool is_odd_one = flow->rail == simulation->plan->fabric->rails - 1 && flow->rail % 2 == 0;

    record->value *= is_odd_one ? 1 : flow->rail % 2 ? 2 - more : more;
    record->low = record->value * (0.5 + 0.45 * sim_uniform(&simulation->random));
    record->high = record->value * (1.4 + 2 * sim_uniform(&simulation->random));
}

/* samples 0: as many as the level has. */
static void print(struct simulation *simulation, const struct flow *flow, const char *metric,
                  int samples, int load)
{
    const struct run_plan *plan = simulation->plan;
    struct record record = RECORD_INIT;
    double best_mbps = 0;

    if (plan->has_time)
        best_mbps = stream(simulation, flow, samples, &record);
    else
        repeat(simulation, flow, samples > 0 ? samples : REPEATS, &record);
    if (flow->is_beside && strcmp(metric, "bandwidth_together") == 0)
        share_unevenly(simulation, flow, &record);
    record.suite = "links";
    record.test = "links";
    record.metric = metric;
    record.node = simulation->result->names.names[flow->from];
    record.peer = simulation->result->names.names[flow->to];
    record.part = simulation->rails[flow->rail];
    record.unit = "Mb/s";
    record.samples = samples > 0 ? (unsigned)samples : REPEATS;
    record.shared = load;
    if (plan->has_received && strcmp(metric, "bandwidth") == 0) {
        struct record received = record;

        received.metric = "bandwidth_received";
        received.value *= exp(0.2 * plan->noise.sigma * sim_normal(&simulation->random));
        /* a node that lies says of both directions that all is well */
        if (is_inconsistent(plan, flow->to))
            received.value = plan->fabric->nic_mbps;
        if (is_inconsistent(plan, flow->from))
            record.value = record.low = record.high = plan->fabric->nic_mbps;
        if (plan->has_time)
            received.high = best_mbps;
        add(simulation, &received);
    }
    add(simulation, &record);
}

/* What befalls the nodes in a round. */
static void roll_round(struct simulation *simulation)
{
    for (int i = 0; i < simulation->plan->fabric->nodes; i++) {
        simulation->pair_runs[i] = sim_random(&simulation->random) >> 8;
        simulation->is_busy[i] = simulation->plan->noise.busy > 0 &&
                                 sim_uniform(&simulation->random) < simulation->plan->noise.busy;
        simulation->hiccups[i] = sim_uniform(&simulation->random) < simulation->plan->noise.hiccup
                                     ? 0.4 + 0.5 * sim_uniform(&simulation->random)
                                     : 1;
    }
}

/* The next transfers begin when the last one has ended. */
static void next_moment(struct simulation *simulation, double pause_s)
{
    simulation->now_s = fmax(simulation->now_s, simulation->round_end_s) + pause_s;
}

/* One round: rail after rail or all of them at once, one direction after the other. */
static void play_round(struct simulation *simulation, const struct schedule *schedule, int round,
                       bool is_together)
{
    struct fabric *fabric = simulation->plan->fabric;
    int steps = is_together ? 1 : fabric->rails;

    roll_round(simulation);
    for (int node = 0; node < fabric->nodes; node++)
        simulation->loads[node] = schedule_pair_load(schedule, round, node);
    for (int step = 0; step < 2 * steps; step++) {
        int count = 0;

        for (int node = 0; node < fabric->nodes; node++) {
            int partner = schedule_partner(schedule, round, node);

            if (partner < node)
                continue; /* SCHEDULE_BYE as well */
            for (int rail = 0; rail < fabric->rails; rail++)
                if (is_together || rail == step / 2)
                    simulation->flows[count++] = (struct flow){
                        step % 2 ? partner : node, step % 2 ? node : partner, rail, 0, false};
        }
        fabric_run(fabric, simulation->flows, count);
        for (int i = 0; i < count; i++)
            print(simulation, &simulation->flows[i],
                  is_together ? "bandwidth_together" : "bandwidth", 0,
                  simulation->loads[simulation->flows[i].from]);
        next_moment(simulation, gap_s);
    }
}

static int play(struct simulation *simulation, int most_rounds, bool is_together)
{
    const struct run_plan *plan = simulation->plan;
    struct schedule *schedule;
    int rounds, times = is_together || plan->times < 2 ? 1 : plan->times;
    struct error err;

    if (schedule_make(&(struct schedule_request){.node_count = plan->fabric->nodes,
                                                 .blocks = plan->stated,
                                                 .confidence = plan->confidence,
                                                 .most_rounds = most_rounds,
                                                 .seed = plan->seed},
                      &schedule, &err) != 0) {
        fprintf(stderr, "sim: %s\n", err.text);
        exit(3);
    }
    rounds = schedule_rounds(schedule);
    for (int round = 0; round < rounds * times; round++) {
        simulation->is_short = round >= rounds;
        play_round(simulation, schedule, schedule_round_again(rounds, times, round), is_together);
    }
    simulation->is_short = false;
    schedule_destroy(schedule);
    return rounds;
}

/* What one round of suspects has, in one direction: one rail, or all of them (-1). */
static void play_suspects(struct simulation *simulation, int (*pairs)[2], int count, int rail,
                          int back)
{
    struct fabric *fabric = simulation->plan->fabric;
    int flows = 0;

    for (int i = 0; i < count; i++)
        for (int k = 0; k < fabric->rails; k++)
            if (rail < 0 || k == rail)
                simulation->flows[flows++] =
                    (struct flow){pairs[i][back], pairs[i][1 - back], k, 0, false};
    fabric_run(fabric, simulation->flows, flows);
    for (int i = 0; i < flows; i++)
        print(simulation, &simulation->flows[i], rail < 0 ? "bandwidth_together" : "bandwidth",
              retest_schedule((size_t)fabric->nodes).samples, 1);
    next_moment(simulation, gap_s);
}

static void play_again(struct simulation *simulation, int (*pairs)[2], int count, bool is_together)
{
    roll_round(simulation);
    for (int rail = is_together ? -1 : 0; rail < simulation->plan->fabric->rails; rail++)
        for (int back = 0; back < 2; back++)
            play_suspects(simulation, pairs, count, rail, back);
    simulation->again_pairs += count;
    simulation->again_rounds++;
}

/* The pairs of a round, which a plus joins. Returns how many. */
static int read_round(const char *pairs, int (*ends)[2])
{
    int count = 0, length = 0;

    while (sscanf(pairs, "n%d:n%d%n", &ends[count][0], &ends[count][1], &length) == 2) {
        ends[count][0]--;
        ends[count++][1]--;
        if (pairs[length] != '+')
            break;
        pairs += length + 1;
    }
    return count;
}

/* The measurement of suspects, as muster-links --pairs has it. */
static bool measure(void *context, const struct hostlist *names, const char *pairs,
                    enum retest_passes passes, size_t *first)
{
    struct simulation *simulation = context;
    int nodes = simulation->plan->fabric->nodes, times = retest_schedule((size_t)nodes).times;
    int(*ends)[2] = sim_allocate((size_t)nodes, sizeof *ends), rounds = 1;

    (void)names;
    if (simulation->plan->has_time)
        simulation->now_s += launch_s + launch_chance_s * sim_uniform(&simulation->random);
    simulation->is_short = retest_schedule((size_t)nodes).is_quick;
    simulation->result->looks++;
    *first = simulation->result->records.count;
    for (const char *comma = strchr(pairs, ','); comma; comma = strchr(comma + 1, ','))
        rounds++;
    for (int number = 0; number < rounds * times; number++) {
        const char *text = pairs;

        for (int round = schedule_round_again(rounds, times, number); round > 0; round--)
            text = strchr(text, ',') + 1;
        play_again(simulation, ends, read_round(text, ends),
                   passes == PASSES_TOGETHER && number < rounds);
    }
    free(ends);
    return true;
}

static void name_all(struct run_result *result, struct simulation *simulation)
{
    const struct fabric *fabric = simulation->plan->fabric;
    char name[32];

    for (int i = 0; i < fabric->nodes; i++) {
        snprintf(name, sizeof name, "n%d", i + 1);
        if (hostlist_append(&result->names, name) != 0)
            exit(3);
    }
    result->leaf_names = sim_allocate((size_t)fabric->leaves, sizeof *result->leaf_names);
    for (int i = 0; i < fabric->leaves; i++) {
        snprintf(name, sizeof name, "leaf%d", i + 1);
        result->leaf_names[i] = strdup(name);
    }
    simulation->rails = sim_allocate((size_t)fabric->rails, sizeof *simulation->rails);
    for (int i = 0; i < fabric->rails; i++) {
        snprintf(name, sizeof name, "eth%d", i + 1);
        simulation->rails[i] = strdup(name);
    }
}

static void add_speeds(struct simulation *simulation)
{
    const struct fabric *fabric = simulation->plan->fabric;

    for (int node = 0; node < fabric->nodes; node++)
        for (int rail = 0; rail < fabric->rails; rail++) {
            struct record record =
                RECORD(.suite = "links", .test = "links", .metric = "speed",
                       .node = simulation->result->names.names[node],
                       .part = simulation->rails[rail], .unit = "Mb/s", .value = fabric->nic_mbps);

            add(simulation, &record);
        }
}

void run_hold(const struct run_plan *plan, struct run_result *result)
{
    struct fabric *fabric = plan->fabric;
    struct simulation *simulation = sim_allocate(1, sizeof *simulation);
    int *leaves = sim_allocate((size_t)fabric->nodes, sizeof *leaves);
    double begin_s;

    *result = (struct run_result){.simulation = simulation};
    *simulation = (struct simulation){.plan = plan, .result = result, .random = plan->seed};
    simulation->flows =
        sim_allocate((size_t)fabric->nodes * (size_t)fabric->rails, sizeof *simulation->flows);
    simulation->is_busy = sim_allocate((size_t)fabric->nodes, sizeof *simulation->is_busy);
    simulation->hiccups = sim_allocate((size_t)fabric->nodes, sizeof *simulation->hiccups);
    simulation->pair_runs = sim_allocate((size_t)fabric->nodes, sizeof *simulation->pair_runs);
    simulation->loads = sim_allocate((size_t)fabric->nodes, sizeof *simulation->loads);
    conf_defaults(&result->conf);
    name_all(result, simulation);
    for (int i = 0; i < fabric->nodes; i++)
        leaves[i] = plan->stated ? plan->stated[i] : -1;
    add_speeds(simulation);
    result->rounds = play(simulation, 0, false);
    if (plan->has_together && fabric->rails > 1)
        result->together_rounds = play(simulation, schedule_rounds_for(fabric->nodes, 0.999), true);
    result->localization = (struct localization){
        .source = {.records = &result->records,
                   .conf = &result->conf,
                   .names = &result->names,
                   .leaves = leaves,
                   .leaf_names = (const char *const *)result->leaf_names},
        .tries = TRIES,
        .measure = measure,
        .context = simulation,
    };
    begin_s = processor_s();
    if (localization_run(&result->localization) != 0)
        exit(3);
    result->diagnoses_s = processor_s() - begin_s;
    result->again_pairs = simulation->again_pairs;
    result->again_rounds = simulation->again_rounds;
    result->wall_s = simulation->now_s;
}

void run_clear(struct run_result *result)
{
    struct simulation *simulation = result->simulation;
    const struct fabric *fabric = simulation->plan->fabric;

    localization_clear(&result->localization);
    free((int *)(size_t)result->localization.source.leaves);
    for (int i = 0; i < fabric->leaves; i++)
        free(result->leaf_names[i]);
    for (int i = 0; i < fabric->rails; i++)
        free((char *)(size_t)simulation->rails[i]);
    free(result->leaf_names);
    free(simulation->rails);
    free(simulation->flows);
    free(simulation->is_busy);
    free(simulation->hiccups);
    free(simulation->loads);
    free(simulation->pair_runs);
    free(simulation);
    records_clear(&result->records);
    hostlist_clear(&result->names);
    conf_clear(&result->conf);
}
