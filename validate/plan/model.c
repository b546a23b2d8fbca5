/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/plan/model.h"

#include <math.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/constants/plan_constants.h"
#include "trainer/parallel/pipeline/split.h"
#include "trainer/parallel/pipeline/step_time.h"

/* ---------------------------------------------------------------- work and memory */

static double layer_parameters(const struct plan_job *job)
{
    return 12 * job->width * job->width + 13 * job->width;
}

double plan_parameters(const struct plan_job *job)
{
    return job->layers * layer_parameters(job) + (job->vocabulary + job->context + 2) * job->width;
}

/* Operations of a token in a layer, forward and backward, and in the head. */
static double layer_work(const struct plan_job *job)
{
    double width = job->width;

    if (job->vocabulary == 0)
        return 6 * job->parameters / job->layers;
    return 72 * width * width * (1 + job->context / (6 * width));
}

static double head_work(const struct plan_job *job)
{
    return 6 * job->vocabulary * job->width;
}

double plan_work(const struct plan_job *job)
{
    return (job->layers * layer_work(job) + head_work(job)) * job->batch * job->context;
}

static double ranks(const struct plan_layout *layout) /* of a stage */
{
    return (double)layout->stage_nodes * layout->devices;
}

static int most_layers(const struct plan_layout *layout) /* of a stage */
{
    int most = 0;

    for (int i = 0; i < layout->stages; i++)
        most = layout->layers[i] > most ? layout->layers[i] : most;
    return most;
}

/* Returns the most parameters that a stage has. */
static double stage_parameters(const struct plan_job *job, const struct plan_layout *layout)
{
    double each = layer_parameters(job);

    if (job->vocabulary == 0)
        return most_layers(layout) * job->parameters / job->layers;
    return most_layers(layout) * each + job->parameters - job->layers * each;
}

/* Returns the bytes of a parameter that each of so many ranks holds. */
static double state_bytes(const struct plan_job *job, int zero, double count)
{
    static const double mixed[] = {16, 4, 2, 0}, single[] = {16, 8, 4, 0};
    double whole = (job->is_fp32 ? single : mixed)[zero];

    return whole + (16 - whole) / count;
}

static double activation_bytes(const struct plan_job *job, const struct plan_layout *layout)
{
    double row = layout->microbatch * job->context * job->width;
    double layer = (job->is_fp32 ? 40 : 34) * row;
    int held = layout->stages < layout->microbatches ? layout->stages : layout->microbatches;

    held *= most_layers(layout);
    return layout->recomputes ? layer + held * row * (job->is_fp32 ? 4 : 2) : held * layer;
}

/* ---------------------------------------------------------------- time of a step */

static double stage_flops(const struct plan_cluster *cluster, const struct plan_layout *layout,
                          int stage)
{
    double least = cluster->islands[layout->islands[stage]].flops;

    for (int i = 0; layout->is_across && i < cluster->island_count; i++)
        least = fmin(least, cluster->islands[i].flops);
    return least;
}

static void split(const struct plan_cluster *cluster, const struct plan_job *job,
                  struct plan_layout *layout)
{
    double speeds[PLAN_STAGES_MOST], work = layer_work(job);

    for (int i = 0; i < layout->stages; i++)
        speeds[i] = stage_flops(cluster, layout, i) / work;
    split_by_speed(job->layers, layout->stages, speeds,
                   head_work(job) / work / speeds[layout->stages - 1], layout->layers);
}

/* Returns the bytes of a parameter that a step sums and gathers, of all ranks. */
static double sent_bytes(const struct plan_job *job, int zero)
{
    static const double mixed[] = {8, 6, 6, 8}, single[] = {8, 8, 8, 12};

    return (job->is_fp32 ? single : mixed)[zero];
}

/* Returns the speed of the slowest island that the layout's stages are on; of the links between
 * islands if is_across. */
static struct link_speed inside(const struct plan_cluster *cluster,
                                const struct plan_layout *layout)
{
    struct link_speed slowest = {0, INFINITY};

    if (layout->is_across)
        return (struct link_speed){cluster->across_s, cluster->across_Bps};
    for (int i = 0; i < layout->stages; i++) {
        const struct plan_island *island = &cluster->islands[layout->islands[i]];

        slowest.latency_s = fmax(slowest.latency_s, island->latency_s);
        slowest.Bps = fmin(slowest.Bps, island->node_Bps);
    }
    return slowest;
}

/* Returns whether islands send to each other. */
static bool crosses(const struct plan_layout *layout)
{
    return layout->is_across || layout->islands[0] != layout->islands[layout->stages - 1];
}

static void time_step(const struct plan_cluster *cluster, const struct plan_job *job,
                      struct plan_layout *layout)
{
    double stage_s[PLAN_STAGES_MOST], slowest_s = 0, all_flops = 0, hidden_s;
    double bytes = job->is_fp32 ? 4 : 2, nodes = (double)layout->stage_nodes;
    double parameters = stage_parameters(job, layout), row = layout->microbatch * job->context;
    double again = layout->recomputes ? 4.0 / 3 : 1;
    struct arrange_times times = {
        .stages = layout->stages,
        .microbatches = layout->microbatches,
        .stage_s = stage_s,
        .microbatch_bytes = row * job->width * bytes * layout->devices,
        .inside = inside(cluster, layout),
        .across = inside(cluster, layout),
    };

    if (crosses(layout))
        times.across = (struct link_speed){cluster->across_s, cluster->across_Bps};
    for (int i = 0; i < layout->stages; i++) {
        double flops = stage_flops(cluster, layout, i);

        stage_s[i] = layout->layers[i] * layer_work(job) * again;
        if (i == layout->stages - 1)
            stage_s[i] += head_work(job);
        stage_s[i] *= row / flops;
        slowest_s = fmax(slowest_s, stage_s[i]);
        all_flops += flops * ranks(layout);
    }
    layout->compute_s = arrange_step_s(&times);
    if (nodes > 1) {
        times.inside_bytes = parameters * sent_bytes(job, layout->zero) * (nodes - 1) / nodes;
        times.inside_messages = 2 * (int)ceil(log2(nodes));
        if (layout->zero > 1) { /* no device holds the gradients until the last microbatch */
            times.inside_bytes *= layout->microbatches;
            times.inside_messages *= layout->microbatches;
        }
    }
    if (layout->stages > 1 && job->vocabulary > 0)
        times.ends_bytes = job->vocabulary * job->width * 4 / nodes;
    layout->sums_s = arrange_step_s(&times) - layout->compute_s;
    hidden_s = job->overlap * slowest_s * 2 / 3;
    layout->sums_s = fmax(layout->sums_s - hidden_s, 0);
    layout->update_s = parameters * PLAN_UPDATE_BYTES / cluster->memory_Bps /
                       (layout->zero > 0 ? ranks(layout) : 1);
    layout->step_s = layout->compute_s + layout->sums_s + layout->update_s;
    layout->tokens_per_s = job->batch * job->context / layout->step_s;
    layout->busy = plan_work(job) / all_flops / layout->step_s;
}

/* Chooses the lowest stage of ZeRO that fits, with or without computing activations again, and the
 * faster of these two, as ZeRO-2 and 3 may cost more. Returns whether one fits. */
static bool fit(const struct plan_cluster *cluster, const struct plan_job *job,
                struct plan_layout *layout)
{
    double room = cluster->memory_bytes * PLAN_MEMORY_SHARE, count = ranks(layout);
    double parameters = stage_parameters(job, layout);
    int most = count < 2 ? 0 : layout->stages > 1 ? 1 : 3;
    struct plan_layout best = {.step_s = INFINITY};

    for (int again = 0; again < 2; again++) {
        layout->recomputes = again;
        for (layout->zero = 0; layout->zero <= most; layout->zero++) {
            layout->memory_bytes =
                parameters * state_bytes(job, layout->zero, count) + activation_bytes(job, layout);
            if (layout->memory_bytes <= room)
                break;
        }
        if (layout->zero > most)
            continue;
        time_step(cluster, job, layout);
        if (layout->step_s < best.step_s)
            best = *layout;
    }
    *layout = best;
    return isfinite(best.step_s);
}

/* ---------------------------------------------------------------- failures */

double plan_mttf_s(double nodes, double failures)
{
    return failures > 0 ? 1 / (nodes * failures) : (double)INFINITY;
}

double plan_interval_s(double checkpoint_s, double mttf_s)
{
    double part = checkpoint_s / (2 * mttf_s);

    if (isinf(mttf_s) || part >= 1)
        return mttf_s;
    return sqrt(2 * checkpoint_s * mttf_s) * (1 + sqrt(part) / 3 + part / 9) - checkpoint_s;
}

double plan_goodput(double interval_s, double checkpoint_s, double restart_s, double mttf_s)
{
    if (isinf(mttf_s))
        return isinf(interval_s) ? 1 : interval_s / (interval_s + checkpoint_s);
    return interval_s /
           (mttf_s * exp(restart_s / mttf_s) * expm1((interval_s + checkpoint_s) / mttf_s));
}

/* Returns the share of the time that the job waits, by Erlang's recursion up to `most` spares;
 * stops at the fewest spares with which it waits no longer than `share`, and sets *spares. */
static double waiting(double load, int most, double share, int *spares)
{
    double blocked = 1;

    for (*spares = 0;; ++*spares) {
        blocked = load * blocked / (*spares + 1 + load * blocked);
        if (*spares >= most || blocked <= share)
            return blocked;
    }
}

double plan_waiting(double nodes, double failures, double repair_s, int spares)
{
    return waiting(nodes * failures * repair_s, spares, -1, &spares);
}

/* Returns how many nodes are left as spares. */
static int left_over(const struct plan_cluster *cluster, const struct plan_layout *layout)
{
    size_t nodes = 0;

    for (int i = 0; i < cluster->island_count; i++)
        if (layout->is_across || layout->stages > 1 || layout->islands[0] == i)
            nodes += cluster->islands[i].nodes;
    return nodes > layout->nodes ? (int)(nodes - layout->nodes) : 0;
}

static void fail(const struct plan_cluster *cluster, const struct plan_job *job,
                 struct plan_layout *layout)
{
    struct plan_failures *made = &layout->failures;
    double nodes = (double)layout->nodes, saved = job->is_fp32 ? 12 : 14;
    /* the job does not see a node come back whose repair takes longer than the job */
    double repair_s = fmin(cluster->repair_s, job->steps * layout->step_s);

    made->mttf_s = plan_mttf_s(nodes, cluster->failures);
    made->checkpoint_s = job->checkpoint_s > 0
                             ? job->checkpoint_s
                             : job->parameters * saved / (nodes * cluster->checkpoint_Bps);
    made->interval_s = fmax(plan_interval_s(made->checkpoint_s, made->mttf_s), layout->step_s);
    if (job->spares < 0)
        made->waiting = waiting(nodes * cluster->failures * repair_s, left_over(cluster, layout),
                                PLAN_WAIT_SHARE, &made->spares);
    else
        made->waiting =
            plan_waiting(nodes, cluster->failures, repair_s, made->spares = job->spares);
    made->goodput = (1 - made->waiting) * plan_goodput(made->interval_s, made->checkpoint_s,
                                                       cluster->restart_s, made->mttf_s);
    layout->finish_s = job->steps * layout->step_s / made->goodput;
}

bool plan_evaluate(const struct plan_cluster *cluster, const struct plan_job *job,
                   struct plan_layout *layout)
{
    double sequences = ceil(job->batch / ranks(layout));

    if (layout->stages > job->layers || layout->stages > PLAN_STAGES_MOST ||
        ranks(layout) > job->batch)
        return false;
    if (crosses(layout) && cluster->across_Bps <= 0)
        return false;
    layout->microbatches = (int)ceil(sequences / job->microbatch);
    layout->microbatch = sequences / layout->microbatches;
    split(cluster, job, layout);
    if (!fit(cluster, job, layout))
        return false;
    fail(cluster, job, layout);
    return true;
}

/* ---------------------------------------------------------------- choice */

/* A search over layouts, which differ in nodes per stage and stages per island. */
struct search {
    const struct plan_cluster *cluster;
    const struct plan_job *job;
    double alone; /* useful steps per second and node, of the fewest nodes that fit */
    size_t fewest;
    struct plan_layout best;
    bool has_best;
    size_t most; /* nodes that a layout can have: the available ones less the spares */
};

static bool is_better(const struct search *search, const struct plan_layout *layout)
{
    const struct plan_layout *best = &search->best;
    double within_s = search->job->within_s;
    bool is_in_time = layout->finish_s <= within_s;

    if (!search->has_best || layout->nodes == best->nodes)
        return !search->has_best || layout->finish_s < best->finish_s;
    if (isfinite(within_s) && is_in_time != (best->finish_s <= within_s))
        return is_in_time;
    if (isfinite(within_s) && is_in_time)
        return layout->nodes < best->nodes;
    return layout->finish_s < best->finish_s;
}

static void try(struct search *search, struct plan_layout *layout)
{
    const struct plan_job *job = search->job;
    double each;

    layout->nodes = layout->stage_nodes * (size_t)layout->stages;
    if ((job->nodes > 0 && layout->nodes != job->nodes) || layout->nodes > search->most ||
        !plan_evaluate(search->cluster, job, layout))
        return;
    each = layout->failures.goodput / layout->step_s / (double)layout->nodes;
    if (search->fewest == 0 || layout->nodes < search->fewest ||
        (layout->nodes == search->fewest && each > search->alone)) {
        search->fewest = layout->nodes;
        search->alone = each;
    }
    if (job->nodes == 0 && isinf(job->within_s) && each < PLAN_EFFICIENCY * search->alone)
        return;
    if (is_better(search, layout)) {
        search->best = *layout;
        search->has_best = true;
    }
}

/* Tries stages of so many nodes on each island that has them, with at most `most` stages per
 * island. */
static void try_pipeline(struct search *search, size_t nodes, size_t most)
{
    const struct plan_cluster *cluster = search->cluster;
    struct plan_layout layout = {.stage_nodes = nodes, .devices = cluster->devices};

    for (int i = 0; i < cluster->island_count; i++) {
        size_t stages = cluster->islands[i].nodes / nodes;

        for (stages = stages < most ? stages : most; stages > 0; stages--) {
            if (layout.stages == PLAN_STAGES_MOST)
                return;
            layout.islands[layout.stages++] = i;
        }
    }
    if (layout.stages > 1)
        try(search, &layout);
}

static bool try_device(struct search *search)
{
    for (int i = 0; i < search->cluster->island_count; i++) {
        struct plan_layout layout = {
            .nodes = 1, .devices = 1, .stages = 1, .islands = {i}, .stage_nodes = 1};

        if (plan_evaluate(search->cluster, search->job, &layout) &&
            layout.finish_s <= fmin(PLAN_SMALL_S, search->job->within_s) &&
            is_better(search, &layout)) {
            search->best = layout;
            search->has_best = true;
        }
    }
    return search->has_best;
}

int plan_choose(const struct plan_cluster *cluster, const struct plan_job *job,
                struct plan_layout *layout, struct error *err)
{
    struct search search = {.cluster = cluster, .job = job};
    size_t all = 0, spares = job->spares > 0 ? (size_t)job->spares : 0;
    size_t wanted = spares + (job->nodes > 0 ? job->nodes : 1);

    for (int i = 0; i < cluster->island_count; i++)
        all += cluster->islands[i].nodes;
    if (wanted > all)
        return error_set(err, "requested %zu nodes, only %zu available", wanted, all);
    search.most = all - spares;
    if (job->nodes == 0 && try_device(&search)) {
        *layout = search.best;
        return 0;
    }
    for (size_t nodes = 1; nodes <= search.most; nodes++) {
        for (int i = 0; i < cluster->island_count; i++)
            if (nodes <= cluster->islands[i].nodes)
                try(&search, &(struct plan_layout){.devices = cluster->devices,
                                                   .stages = 1,
                                                   .islands = {i},
                                                   .stage_nodes = nodes});
        if (cluster->island_count < 2)
            continue;
        try(&search,
            &(struct plan_layout){
                .devices = cluster->devices, .stages = 1, .stage_nodes = nodes, .is_across = true});
        try_pipeline(&search, nodes, 1);
        try_pipeline(&search, nodes, PLAN_STAGES_MOST);
    }
    if (!search.has_best)
        return error_set(err,
                         "no layout of the job fits on %zu node%s of %d device%s with %.3g GB: "
                         "each device needs a sequence of the batch and its share of the model",
                         job->nodes > 0 ? job->nodes : search.most,
                         text_plural(job->nodes > 0 ? job->nodes : search.most), cluster->devices,
                         text_plural((size_t)cluster->devices), cluster->memory_bytes / 1e9);
    *layout = search.best;
    return 0;
}
