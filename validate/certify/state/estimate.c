/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/state/estimate.h"

#include <stdlib.h>
#include <string.h>

#include "lib/constants/certify_constants.h"
#include "validate/localization/localization.h"
#include "validate/schedule/split.h"

/* Estimates how long the stages of this run take, from the facts known about its nodes. */

/* Returns the largest number of rails that a node reported; before the check, that of the
 * configuration. */
static int rail_count(const struct certify *certify)
{
    int *rails = calloc(certify->count + 1, sizeof *rails);
    int most = 0;

    for (size_t i = 0; rails && i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);
        const struct node_run *node_run;

        if (!catalog_is_metric(record->metric, METRIC_SPEED) ||
            !catalog_is_test(record->test, TEST_HOST_CONFIG))
            continue;
        node_run = certify_node_run(certify, record->node);
        if (node_run && ++rails[node_run - certify->node_runs] > most)
            most = rails[node_run - certify->node_runs];
    }
    free(rails);
    if (most == 0)
        most = (int)certify->conf.fabric_interfaces.count;
    return most > 0 ? most : BUDGET_RAILS_GUESSED;
}

int certify_link_times(const struct certify *certify, size_t nodes)
{
    return certify->conf.link_times > 0
               ? certify->conf.link_times
               : localization_times(nodes, certify->options.level == LEVEL_QUICK);
}

/* Reads the machines of the good nodes from what their checks reported. Returns how many there are.
 */
static size_t machines_read(const struct certify *certify, struct budget_machine *machines)
{
    size_t count = 0;

    for (size_t i = 0; i < certify->count; i++)
        machines[i] = (struct budget_machine){"", 0};
    for (size_t i = 0; i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);
        const struct node_run *node_run;

        node_run = certify_node_run(certify, record->node);
        if (!node_run || !record->metric || record->verdict != VERDICT_NONE)
            continue;
        if (catalog_is_test(record->test, TEST_NET_ADDRESSES) &&
            catalog_is_metric(record->metric, METRIC_BOOT) && record->message)
            machines[node_run - certify->node_runs].boot_id = record->message;
        if (catalog_is_test(record->test, TEST_HOST_CONFIG) &&
            catalog_is_metric(record->metric, METRIC_CPU_COUNT))
            machines[node_run - certify->node_runs].processors = (int)record->value;
    }
    for (size_t i = 0; i < certify->count; i++)
        if (outcome_is_good(&certify->node_runs[i].outcome))
            machines[count++] = machines[i];
    return count;
}

int *certify_uplink_pairs(const struct certify *certify, const struct hostlist *names)
{
    size_t leaves = certify->cluster.leaf_count;
    int *pairs = calloc(leaves + 1, sizeof *pairs), of_site = certify->conf.uplink_concurrency;
    bool is_any = false;

    if (pairs && of_site == 0)
        cluster_uplink_pairs(&certify->cluster, names, pairs);
    for (size_t leaf = 0; pairs && leaf < leaves; leaf++) {
        if (of_site > 0)
            pairs[leaf] = of_site;
        is_any |= pairs[leaf] > 0;
    }
    if (is_any)
        return pairs;
    free(pairs);
    return NULL;
}

/* Accounts for the limits of leaves and uplinks, which split the rounds of the good nodes. */
static void leaf_limits_apply(const struct certify *certify, struct budget_work *work)
{
    int *blocks = calloc(work->nodes + 1, sizeof *blocks);
    struct split_limits limits = {.pairs = certify->conf.concurrency,
                                  .leaf_pairs = certify->conf.leaf_concurrency,
                                  .blocks = blocks};
    struct hostlist names = {0};
    int *uplink_pairs;

    for (size_t i = 0; blocks && i < work->nodes; i++)
        blocks[i] = -1;
    for (size_t i = 0; blocks && i < certify->count && names.count < work->nodes; i++) {
        const struct node_run *node_run = &certify->node_runs[i];

        if (!outcome_is_good(&node_run->outcome) || !node_run->slurm)
            continue;
        blocks[names.count] = node_run->slurm->leaf;
        if (hostlist_append(&names, node_run->name) != 0)
            break;
    }
    limits.uplink_pairs = uplink_pairs = certify_uplink_pairs(certify, &names);
    if (blocks && (limits.leaf_pairs > 0 || uplink_pairs))
        budget_apply_limits(work, &limits);
    hostlist_clear(&names);
    free(uplink_pairs);
    free(blocks);
}

struct budget_work certify_work(const struct certify *certify, size_t nodes)
{
    struct budget_machine *machines = calloc(certify->count + 1, sizeof *machines);
    struct budget_work work =
        budget_work_make(certify->options.level, nodes, rail_count(certify),
                         certify->conf.concurrency, certify_link_times(certify, nodes));

    for (size_t i = 0; i < certify->count; i++) {
        const struct node_run *node_run = &certify->node_runs[i];

        if (outcome_is_good(&node_run->outcome) && node_run->has_accelerator &&
            node_run->gpus > work.gpus)
            work.gpus = node_run->gpus;
    }
    if (machines)
        budget_apply_sharing(&work, machines, machines_read(certify, machines));
    free(machines);
    leaf_limits_apply(certify, &work);
    return work;
}

double certify_limit_s(const struct certify *certify, enum stage stage, size_t nodes)
{
    struct budget_work work = certify_work(certify, nodes);

    return budget_limit_s(&work, stage, certify->budget_s);
}

double certify_battery_s(const struct certify *certify, size_t nodes)
{
    struct budget_work work = certify_work(certify, nodes);
    double sum_s = 0;

    if (certify->budget_s > 0)
        return 3 * certify->budget_s;
    for (int stage = STAGE_LAUNCH; stage <= STAGE_TRAIN; stage++)
        sum_s += budget_limit_s(&work, (enum stage)stage, 0);
    return sum_s + budget_limit_s(&work, STAGE_LINKS, 0); /* suspects are measured again */
}
