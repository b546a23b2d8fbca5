/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/certification.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/statistics.h"
#include "validate/schedule/schedule.h"

/* The values of muster-links and muster certify. */
enum { REPEATS = 5, AGAIN_REPEATS = 15, TRIES = 4, REPEATS_MOST = 15 };

/* With has_time: the time between two transfers, and the least and random time before suspects are
 * measured again. */
static const double gap_s = 0.06, launch_s = 1.5, launch_chance_s = 2;

struct simulation {
    const struct run_plan *plan;
    struct run_result *result;
    uint64_t random;
    struct flow *flows;
    double *hiccups;    /* [nodes] share of the node's speed in this round */
    int *loads;         /* [nodes] of each node's pair in this round, schedule_pair_load() */
    const char **rails; /* names */
    /* the noise of recordings */
    size_t certification;
    struct noise_round noise; /* of this round */
    uint64_t noise_key;       /* random, of this round */
    const struct noise_pair_run *
        *pair_runs; /* [nodes] of the pair whose lower node it is, or NULL */
    int again_pairs, again_rounds;
    double now_s, round_end_s; /* with has_time */
    bool is_short;             /* measured as at level quick: repeats of all pairs, some retests */
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

/* Returns the share of its speed that an intermittent rail has at this moment. */
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

/* Returns the recorded noise of a flow. All flows of a pair use one recorded pair run; the pairs of
 * a round use pair runs that ran side by side. */
static const struct noise_share *share_of(struct simulation *simulation, const struct flow *flow)
{
    int low = flow->from < flow->to ? flow->from : flow->to;
    const struct noise_pair_run **pair_run = &simulation->pair_runs[low];

    if (*pair_run == NULL)
        *pair_run = noise_next(&simulation->noise);
    return &(*pair_run)
                ->figures[(2 * flow->rail + (flow->from == low)) % (*pair_run)->figure_count];
}

static void add_noise(const struct noise_share *share, struct record *record)
{
    record->value *= share->value;
    record->low *= share->low;
    record->high *= share->high;
    record->stalled = share->stalled;
}

/* Fills in the repeats of a flow, with invented or recorded noise. */
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
        if (!noise->recordings) {
            if (sim_uniform(random) < noise->dip)
                mbps *= 0.3 + 0.7 * sim_uniform(random);
            mbps *= exp(noise->sigma * sim_normal(random) - 0.02);
        }
        samples[i] = mbps;
    }
    record->stalled = 0;
    record->value = statistics_median(samples, (size_t)repeats);
    statistics_interval(samples, (size_t)repeats, &record->low, &record->high);
    if (noise->recordings)
        add_noise(share_of(simulation, flow), record);
}

/* Returns when the flow's path is slow, or NULL for never. */
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

/* Returns whether the flow's pair runs on busy machines in this round, which is invented. */
static bool is_preempted(const struct simulation *simulation, const struct flow *flow)
{
    int low = flow->from < flow->to ? flow->from : flow->to;
    uint64_t key = simulation->noise_key ^ (uint64_t)low << 32;

    return sim_uniform(&key) < simulation->plan->noise.preempted;
}

/* Does the same as repeat() with has_time: a stream with recorded noise. Returns the bandwidth of
 * the receiver's best part. */
static double stream(struct simulation *simulation, const struct flow *flow, int samples,
                     struct record *record)
{
    const struct run_plan *plan = simulation->plan;
    bool is_quick = plan->is_quick || simulation->is_short;
    struct stream_plan how = stream_plan(is_quick, samples);
    const struct noise_share *share = share_of(simulation, flow);
    double now_s = simulation->now_s, best_mbps;

    stream_run(&how, flow->mbps, timing_of(plan, flow), &now_s, record, &best_mbps);
    simulation->round_end_s = fmax(simulation->round_end_s, now_s);
    add_noise(share, record);
    best_mbps *= share->best;
    if (is_preempted(simulation, flow)) {
        struct noise_share more = noise_preempt(&simulation->random);

        add_noise(&more, record);
        best_mbps *= more.best;
    }
    return best_mbps;
}

/* Rails of a pair that share a cable share it unevenly, and not constantly. Fitted to 160 streams
 * of two rails in the lab (2026-11-28): their means are within an eighth of the half; the quartiles
 * of the parts begin at half and at 1.4 of the mean. */
static void share_unevenly(struct simulation *simulation, const struct flow *flow,
                           struct record *record)
{
    int low = flow->from < flow->to ? flow->from : flow->to;
    uint64_t key = simulation->noise_key + 2 * (uint64_t)low + (uint64_t)(flow->from == low);
    double more = 1 + 0.12 * fmax(fmin(sim_normal(&key), 3), -3);
    bool is_odd_one = flow->rail == simulation->plan->fabric->rails - 1 && flow->rail % 2 == 0;

    record->value *= is_odd_one ? 1 : flow->rail % 2 ? 2 - more : more;
    record->low = record->value * (0.5 + 0.45 * sim_uniform(&simulation->random));
    record->high = record->value * (1.4 + 2 * sim_uniform(&simulation->random));
}

/* Adds the records of a transfer. samples 0: the level's number. */
static void add_transfer(struct simulation *simulation, const struct flow *flow, const char *metric,
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
        /* an inconsistent node reports that both directions are good, if they carried anything */
        if (flow->mbps > 0 && is_inconsistent(plan, flow->to))
            received.value = plan->fabric->nic_mbps;
        if (flow->mbps > 0 && is_inconsistent(plan, flow->from))
            record.value = record.low = record.high = plan->fabric->nic_mbps;
        if (plan->has_time)
            received.high = best_mbps;
        add(simulation, &received);
    }
    add(simulation, &record);
}

/* Draws the noise of a round. */
static void draw_noise(struct simulation *simulation, enum noise_kind kind)
{
    const struct noise *noise = &simulation->plan->noise;

    simulation->noise_key = sim_random(&simulation->random) >> 8;
    if (noise->recordings)
        simulation->noise =
            noise_round(noise->recordings, simulation->certification, kind, simulation->noise_key);
    for (int i = 0; i < simulation->plan->fabric->nodes; i++) {
        simulation->pair_runs[i] = NULL;
        simulation->hiccups[i] = sim_uniform(&simulation->random) < noise->hiccup
                                     ? 0.4 + 0.5 * sim_uniform(&simulation->random)
                                     : 1;
    }
}

/* Advances the clock: the next transfers begin after the last one has ended. */
static void next_moment(struct simulation *simulation, double pause_s)
{
    simulation->now_s = fmax(simulation->now_s, simulation->round_end_s) + pause_s;
}

/* Plays one round: one rail after the other or all at once, one direction after the other. */
static void play_round(struct simulation *simulation, const struct schedule *schedule, int round,
                       bool is_together)
{
    struct fabric *fabric = simulation->plan->fabric;
    int steps = is_together ? 1 : fabric->rails;

    draw_noise(simulation, is_together ? NOISE_TOGETHER : NOISE_RAILS);
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
            add_transfer(simulation, &simulation->flows[i],
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

/* Plays one direction of a round of retests, on one rail or all of them (-1). */
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
        add_transfer(simulation, &simulation->flows[i],
                     rail < 0 ? "bandwidth_together" : "bandwidth",
                     retest_schedule((size_t)fabric->nodes).samples, 1);
    next_moment(simulation, gap_s);
}

static void play_again(struct simulation *simulation, int (*pairs)[2], int count, bool is_together)
{
    for (int rail = is_together ? -1 : 0; rail < simulation->plan->fabric->rails; rail++) {
        if (rail <= 0)
            draw_noise(simulation, rail < 0 ? NOISE_TOGETHER : NOISE_RAILS);
        for (int back = 0; back < 2; back++)
            play_suspects(simulation, pairs, count, rail, back);
    }
    simulation->again_pairs += count;
    simulation->again_rounds++;
}

/* Parses the pairs of a round, joined by "+". Returns their number. */
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

/* Measures suspects as muster-links --pairs does. */
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

void run_certification(const struct run_plan *plan, struct run_result *result)
{
    struct fabric *fabric = plan->fabric;
    struct simulation *simulation = sim_allocate(1, sizeof *simulation);
    int *leaves = sim_allocate((size_t)fabric->nodes, sizeof *leaves);
    double begin_s;

    *result = (struct run_result){.simulation = simulation};
    *simulation = (struct simulation){.plan = plan, .result = result, .random = plan->seed};
    simulation->flows =
        sim_allocate((size_t)fabric->nodes * (size_t)fabric->rails, sizeof *simulation->flows);
    simulation->hiccups = sim_allocate((size_t)fabric->nodes, sizeof *simulation->hiccups);
    simulation->pair_runs = sim_allocate((size_t)fabric->nodes, sizeof *simulation->pair_runs);
    simulation->loads = sim_allocate((size_t)fabric->nodes, sizeof *simulation->loads);
    if (plan->noise.recordings)
        simulation->certification =
            noise_certification(&plan->noise, sim_random(&simulation->random));
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
    free(simulation->hiccups);
    free(simulation->loads);
    free((void *)simulation->pair_runs);
    free(simulation);
    records_clear(&result->records);
    hostlist_clear(&result->names);
    conf_clear(&result->conf);
}
