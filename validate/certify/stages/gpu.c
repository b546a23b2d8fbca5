/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/stages.h"

#include <math.h>

#include "validate/certify/report/run_records.h"
#include "validate/certify/stages/decline.h"
#include "validate/certify/step/program_probe.h"

/* Runs muster-gpu, one task per node, on the nodes that have accelerators. A step gets a node's
 * devices only by requesting them, the same number on each node, so nodes with equal numbers are
 * tested together. */

static const char *container_of(const struct certify *certify)
{
    return *certify->conf.gpu_container ? certify->conf.gpu_container : NULL;
}

static void gpu_arguments(const struct certify *certify, const struct hostlist *names,
                          double limit_s, struct arguments *program)
{
    (void)names;
    step_container_begin(container_of(certify), program);
    certify_program(certify, "muster-gpu", limit_s, program);
}

static bool takes(const struct battery *battery, const struct node_run *node_run)
{
    return node_run->has_accelerator && node_run->gpus == battery->gpus &&
           node_run->outcome.stages[STAGE_GPU] != VERDICT_SKIP; /* no container */
}

/* The next larger number of devices that a node with accelerators has in Slurm; -1: there is none.
 */
static long next_count(const struct certify *certify, long gpus)
{
    long next = -1;

    for (size_t i = 0; i < certify->count; i++) {
        const struct node_run *node_run = &certify->node_runs[i];

        if (node_run->has_accelerator && node_run->gpus > gpus &&
            (next < 0 || node_run->gpus < next))
            next = node_run->gpus;
    }
    return next;
}

static void find_container(struct certify *certify)
{
    struct hostlist names = {0};

    for (size_t i = 0; i < certify->count; i++)
        if (certify->node_runs[i].has_accelerator && certify->node_runs[i].is_in_job &&
            outcome_is_good(&certify->node_runs[i].outcome))
            hostlist_append(&names, certify->node_runs[i].name);
    if (names.count > 0)
        certify_container_probe(certify, container_of(certify), &names);
    hostlist_clear(&names);
}

/* Notes the nodes whose GPUs no step could request in full, as another node of the job has fewer.
 */
static void lacks_note(struct certify *certify)
{
    char text[200];

    for (size_t i = 0; i < certify->count; i++) {
        struct node_run *node_run = &certify->node_runs[i];

        if (!node_run->lacks_gpus || !node_run->has_accelerator || !node_run->is_in_job ||
            !outcome_is_good(&node_run->outcome))
            continue;
        snprintf(text, sizeof text,
                 "not tested: with Flags=explicit in gres.conf a job has the same number of GPUs "
                 "on each node; certify nodes with %ld GPUs in a run of their own",
                 node_run->gpus);
        certify_verdict(certify, node_run, STAGE_GPU, VERDICT_UNKNOWN, "gpu", "", text);
    }
}

static void run(struct certify *certify)
{
    lacks_note(certify);
    if (container_of(certify))
        find_container(certify);
    for (size_t i = 0; i < certify->count; i++)
        if (!certify->node_runs[i].has_accelerator && certify->node_runs[i].is_in_job &&
            outcome_is_good(&certify->node_runs[i].outcome))
            certify_verdict(certify, &certify->node_runs[i], STAGE_GPU, VERDICT_SKIP, "gpu", "",
                            "no accelerator");
    for (long gpus = next_count(certify, -1); gpus >= 0; gpus = next_count(certify, gpus))
        certify_battery(certify, &(struct battery){.stage = STAGE_GPU,
                                                   .tasks_per_node = 1,
                                                   .gpus = gpus,
                                                   .container = container_of(certify),
                                                   .takes = takes,
                                                   .build = gpu_arguments});
}

static bool is_figure(const struct record *record)
{
    return record->node && record->part && record->metric && record->unit &&
           isfinite(record->value) && record->verdict == VERDICT_PASS &&
           catalog_is_suite(record->suite, SUITE_GPU);
}

static void fold(struct certify *certify, enum stage stage, size_t first)
{
    certify_skip_unmeasured(certify, stage, SUITE_GPU, first);
    certify_decline(certify, stage, first, is_figure);
}

const struct certify_stage stage_gpu = {
    .stage = STAGE_GPU,
    .job = JOB_BATTERY,
    .level = LEVEL_QUICK,
    .program = "muster-gpu",
    .run = run,
    .fold = fold,
};
