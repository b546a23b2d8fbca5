/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/plan/model.h"

#include <math.h>

#include "lib/base/splitmix.h"
#include "tests/unit/tap.h"

static const double day_s = 86400, hour_s = 3600;

/* ---------------------------------------------------------------- published points */

static double of_1000_node_days(double failures)
{
    return failures / 1000 / day_s;
}

static void failures_match_publications(void)
{
    double llama = 419 / (54 * day_s * 2048), rsc = of_1000_node_days(6.5);
    double mttf_s = plan_mttf_s(2000, rsc);

    /* Llama 3: 419 unexpected interruptions in 54 days on 16,384 GPUs */
    is_near(llama * 1000 * day_s, 3.79, 0.01, "Llama 3: failures per 1,000 node-days");
    is_near(plan_mttf_s(2048, llama) / hour_s, 54 * 24 / 419.0, 1e-9,
            "Llama 3: time between failures");
    /* Kokolis et al., HPCA 2025, RSC-1: 6.50 failures of 1,000 node-days of 8 GPUs */
    is_near(plan_mttf_s(16384 / 8, rsc) / hour_s, 1.8, 0.01, "RSC-1: projection for 16,384 GPUs");
    is_near(plan_mttf_s(131072 / 8, rsc) / hour_s, 0.23, 0.01,
            "RSC-1: projection for 131,072 GPUs");
    is_near(plan_mttf_s(1024 / 8, 1 / (47.7 * day_s)) / hour_s, 7.9, 0.15 * 7.9,
            "RSC-1: 1,024 GPUs, 7.9 h, from 8 GPUs, 47.7 days");
    is_near(plan_goodput(hour_s, 0, 300, mttf_s), 0.70, 0.03,
            "RSC-1: 16,000 GPUs with a checkpoint each hour: goodput 0.7");
    is_near(plan_goodput(300, 0, 300, mttf_s), 0.93, 0.01, "RSC-1: ... every five minutes: 0.93");
    /* "more than 90 % effective training time" */
    mttf_s = plan_mttf_s(2048, llama);
    ok(plan_goodput(plan_interval_s(10, mttf_s), 10, 300, mttf_s) > 0.9,
       "Llama 3: above 0.9 with checkpoints of 10 s and restarts of 5 minutes");
}

static void interval_follows_daly(void)
{
    static const double shares[] = {1e-5, 1e-3, 0.01, 0.1, 0.5, 1};
    double mttf_s = 1e4;

    is_near(plan_interval_s(300, 1e3 * day_s), sqrt(2 * 300 * 1e3 * day_s), 300,
            "with rare failures the interval is Young's, within one checkpoint");
    is_near(plan_interval_s(300, day_s), 7001, 1, "5 minutes, one failure a day: 7001 s");
    is_near(plan_interval_s(400, 100), 100, 1e-9,
            "a checkpoint that is never worth it: the mean time to failure");
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        double checkpoint_s = shares[i] * mttf_s, best = 0;
        double found =
            plan_goodput(plan_interval_s(checkpoint_s, mttf_s), checkpoint_s, 600, mttf_s);

        for (double interval_s = 1; interval_s < 4 * mttf_s; interval_s *= 1.002)
            best = fmax(best, plan_goodput(interval_s, checkpoint_s, 600, mttf_s));
        ok(found <= best * (1 + 1e-5) && found > best * 0.999,
           "a checkpoint of %g of the time to failure: no other interval is better (%.5f, %.5f)",
           shares[i], found, best);
    }
}

/* ---------------------------------------------------------------- simulation */

static double draw_exponential(uint64_t *state, double mean)
{
    return -mean * log(((double)(splitmix_next(state) >> 11) + 0.5) / 9007199254740992.0);
}

/* Simulates a job that fails, restarts and writes checkpoints. Failures can occur in each of
 * these phases. Returns the share of time spent on new work. */
static double simulate_work(double interval_s, double checkpoint_s, double restart_s, double mttf_s)
{
    uint64_t state = 7;
    double now_s = 0, left_s = draw_exponential(&state, mttf_s), done_s = 0;
    bool restarts = false;

    while (now_s < 40000 * mttf_s) {
        double needs_s = restarts ? restart_s : interval_s + checkpoint_s;

        if (left_s < needs_s) {
            now_s += left_s;
            left_s = draw_exponential(&state, mttf_s);
            restarts = true;
            continue;
        }
        now_s += needs_s;
        left_s -= needs_s;
        done_s += restarts ? 0 : interval_s;
        restarts = false;
    }
    return done_s / now_s;
}

/* Simulates node failures during a job, with repairs of constant or random length. Returns the
 * share of time that the job waits for nodes. */
static double simulate_waits(double nodes, double failures, double repair_s, int spares,
                             bool is_drawn)
{
    enum { AWAY_MOST = 64 };
    double back_s[AWAY_MOST], now_s = 0, waited_s = 0;
    uint64_t state = 11;
    int away = 0;

    for (int i = 0; i < 200000;) {
        double fails_s = now_s + draw_exponential(&state, 1 / (nodes * failures)),
               next_s = INFINITY;
        int first = -1;

        for (int k = 0; k < away; k++)
            if (back_s[k] < next_s)
                next_s = back_s[first = k];
        if (away <= spares && fails_s < next_s) {
            now_s = fails_s;
            back_s[away++] = now_s + (is_drawn ? draw_exponential(&state, repair_s) : repair_s);
            i++;
            continue;
        }
        waited_s += away > spares ? next_s - now_s : 0;
        now_s = next_s;
        back_s[first] = back_s[--away];
    }
    return waited_s / now_s;
}

static void formulas_match_simulation(void)
{
    static const struct {
        double checkpoint_s, restart_s, mttf_s;
    } cases[] = {{60, 300, 11000}, {10, 600, 6500}, {300, 300, 3600}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double checkpoint_s = cases[i].checkpoint_s, restart_s = cases[i].restart_s;
        double mttf_s = cases[i].mttf_s, interval_s = plan_interval_s(checkpoint_s, mttf_s);

        is_near(plan_goodput(interval_s, checkpoint_s, restart_s, mttf_s),
                simulate_work(interval_s, checkpoint_s, restart_s, mttf_s), 0.01,
                "goodput matches the simulation: checkpoints of %g s, a failure each %g s",
                checkpoint_s, mttf_s);
    }
    for (int spares = 0; spares < 6; spares++) {
        double failures = of_1000_node_days(6.5);
        double found = plan_waiting(256, failures, day_s, spares);

        is_near(found, simulate_waits(256, failures, day_s, spares, false), 0.01,
                "waiting matches the simulation: 256 nodes, %d spares, %.4f", spares, found);
        is_near(found, simulate_waits(256, failures, day_s, spares, true), 0.01,
                "... also with repairs of random length");
    }
}

/* ---------------------------------------------------------------- layouts */

/* Holmes (Yang et al., ICPP 2024), the 3.6B model: 30 layers of 3072, 2048 tokens, 51200 words,
 * 768 sequences, microbatches of 4, two stages, nodes of 8 A100. */
static const struct plan_job holmes = {.layers = 30,
                                       .width = 3072,
                                       .context = 2048,
                                       .vocabulary = 51200,
                                       .batch = 768,
                                       .microbatch = 4,
                                       .steps = 1000,
                                       .within_s = INFINITY,
                                       .spares = -1};

static struct plan_cluster cluster_of(size_t nodes, double gbps, double flops)
{
    return (struct plan_cluster){.islands = {{"fast", nodes, flops, gbps * 1e9 / 8, 5e-6},
                                             {"slow", nodes, flops, gbps * 1e9 / 8, 5e-6}},
                                 .island_count = 1,
                                 .across_Bps = 25e9 / 8,
                                 .across_s = 30e-6,
                                 .devices = 8,
                                 .memory_bytes = 80e9,
                                 .memory_Bps = INFINITY,
                                 .failures = of_1000_node_days(3.79),
                                 .repair_s = day_s,
                                 .restart_s = 300,
                                 .checkpoint_Bps = 1e9};
}

static struct plan_job job_of(const struct plan_job *other)
{
    struct plan_job job = *other;

    job.parameters = plan_parameters(&job);
    return job;
}

/* Returns a device's useful operations per second, without recomputation. */
static double rate_of(const struct plan_job *job, size_t nodes, double gbps, double flops)
{
    struct plan_cluster cluster = cluster_of(nodes, gbps, flops);
    struct plan_layout layout = {
        .nodes = nodes, .devices = 8, .stages = 2, .stage_nodes = nodes / 2};

    return plan_evaluate(&cluster, job, &layout) ? layout.busy * flops : 0;
}

/* Published, in TFLOPS of a device: InfiniBand 197 on 4 nodes, 148 on 8; Ethernet 122 and 83.
 * Links have 200 and 25 Gb/s a node. The device's speed is fitted to the first value. */
static void ratios_match_holmes(void)
{
    struct plan_job job = job_of(&holmes);
    double low = 50e12, high = 600e12;

    is_near(job.parameters, 3.6e9, 0.02 * 3.6e9, "Holmes' model has 3.6 billion parameters");
    for (int i = 0; i < 60; i++) {
        double flops = (low + high) / 2;

        *(rate_of(&job, 4, 200, flops) < 197e12 ? &low : &high) = flops;
    }
    is_near(rate_of(&job, 4, 25, low) / 197e12, 122 / 197.0, 0.15 * 122 / 197,
            "Ethernet relative to InfiniBand on 4 nodes: published 0.62");
    is_near(rate_of(&job, 8, 25, low) / rate_of(&job, 8, 200, low), 83 / 148.0, 0.15 * 83 / 148,
            "... on 8 nodes: published 0.56");
    is_near(rate_of(&job, 8, 200, low) / 197e12, 148 / 197.0, 0.15 * 148 / 197,
            "InfiniBand on 8 nodes relative to 4: published 0.75");
}

static void islands_get_stages(void)
{
    struct plan_job job = job_of(&(struct plan_job){.layers = 36,
                                                    .width = 4096,
                                                    .context = 2048,
                                                    .vocabulary = 51200,
                                                    .batch = 1536,
                                                    .microbatch = 4,
                                                    .steps = 1000,
                                                    .nodes = 8,
                                                    .within_s = INFINITY,
                                                    .spares = -1});
    struct plan_cluster cluster = cluster_of(4, 200, 200e12);
    struct plan_layout layout, slow,
        across = {.nodes = 8, .devices = 8, .stages = 1, .stage_nodes = 8, .is_across = true};
    struct error err;

    cluster.island_count = 2;
    is_int(plan_choose(&cluster, &job, &layout, &err), 0,
           "a job of 8 nodes fits on two islands of 4 nodes");
    ok(layout.stages > 1 && layout.islands[0] != layout.islands[layout.stages - 1] &&
           layout.nodes == 8,
       "... with a pipeline across them: %d stages", layout.stages);
    ok(plan_evaluate(&cluster, &job, &across), "data parallelism across both islands fits, too");
    ok(layout.step_s < 141 / 195.0 * across.step_s * 1.15,
       "the pipeline takes %.2f of its step time, published 141 / 195",
       layout.step_s / across.step_s);
    cluster.across_Bps /= 100;
    slow = layout;
    plan_evaluate(&cluster, &job, &slow);
    ok(slow.step_s > 1.1 * layout.step_s,
       "a slower link between the islands makes steps longer: %.1f s, %.1f s", slow.step_s,
       layout.step_s);
    cluster.across_Bps *= 100;
    cluster.islands[1].flops /= 2;
    plan_choose(&cluster, &job, &layout, &err);
    ok(layout.layers[0] > layout.layers[layout.stages - 1],
       "the faster island has more layers: %d, %d", layout.layers[0],
       layout.layers[layout.stages - 1]);
    cluster.across_Bps = 0;
    is_int(plan_choose(&cluster, &job, &layout, &err), -1,
           "islands without a link do not fit a job of 8 nodes");
    has_str(err.text, "no layout of the job fits on 8 nodes of 8 devices",
            "... the message has the size");
}

static void memory_decides_on_sharding(void)
{
    struct plan_job job = job_of(&(struct plan_job){.layers = 32,
                                                    .width = 4096,
                                                    .context = 2048,
                                                    .vocabulary = 50257,
                                                    .batch = 64,
                                                    .microbatch = 1,
                                                    .steps = 100,
                                                    .within_s = INFINITY,
                                                    .spares = -1});
    struct plan_cluster cluster = cluster_of(8, 400, 400e12);
    struct plan_layout layout = {.nodes = 1, .devices = 8, .stages = 1, .stage_nodes = 1};
    static const struct {
        double memory_gb;
        int zero;
        bool recomputes;
    } cases[] = {{160, 0, false}, {70, 1, false}, {28, 3, false}, {24, 3, true}};
    bool fits;

    job.batch = 8;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cluster.memory_bytes = cases[i].memory_gb * 1e9;
        fits = plan_evaluate(&cluster, &job, &layout);
        ok(fits && layout.zero == cases[i].zero && layout.recomputes == cases[i].recomputes,
           "%.0f GB: ZeRO-%d%s, %.1f GB", cases[i].memory_gb, layout.zero,
           layout.recomputes ? ", computed again" : "", layout.memory_bytes / 1e9);
    }
    cluster.memory_bytes = 4e9;
    ok(!plan_evaluate(&cluster, &job, &layout), "4 GB: the job does not fit");
}

static void nodes_are_worth_it(void)
{
    struct plan_job job = job_of(&holmes);
    struct plan_cluster cluster = cluster_of(64, 200, 200e12);
    struct plan_layout layout, faster;

    job.steps = 1e5;
    is_int(plan_choose(&cluster, &job, &layout, NULL), 0, "a job without a given size");
    ok(layout.nodes > 4 && layout.nodes < 64, "takes as many nodes as are worth it: %zu",
       layout.nodes);
    ok(layout.failures.spares > 0 && layout.failures.waiting < 0.01, "... with spares: %d",
       layout.failures.spares);
    job.steps = 100;
    plan_choose(&cluster, &job, &faster, NULL);
    is_int(faster.failures.spares, 0, "... a short job gets no spares");
    job.steps = 1e5;
    job.nodes = 64;
    plan_choose(&cluster, &job, &faster, NULL);
    ok(faster.finish_s < layout.finish_s &&
           faster.finish_s * 64 > layout.finish_s * (double)layout.nodes,
       "... but not all nodes, which would end it earlier: %.0f h, %.0f h",
       faster.finish_s / hour_s, layout.finish_s / hour_s);
    job.nodes = 0;
    job.within_s = layout.finish_s * 2;
    is_int(plan_choose(&cluster, &job, &faster, NULL), 0, "with twice the time allowed");
    ok(faster.nodes < layout.nodes && faster.finish_s <= job.within_s,
       "fewer nodes are enough: %zu", faster.nodes);
    job.within_s = INFINITY;
    job.steps = 1;
    job.layers = 12;
    job.width = 768;
    job.batch = 16;
    job = job_of(&job);
    is_int(plan_choose(&cluster, &job, &layout, NULL), 0, "a small job");
    ok(layout.nodes == 1 && layout.devices == 1, "gets one device");
}

int main(void)
{
    failures_match_publications();
    interval_follows_daly();
    formulas_match_simulation();
    ratios_match_holmes();
    islands_get_stages();
    memory_decides_on_sharding();
    nodes_are_worth_it();
    return tap_done();
}
