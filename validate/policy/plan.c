/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/plan.h"

#include <stdio.h>
#include <string.h>

#include "validate/policy/reason.h"

static void plan_set(struct plan *plan, enum plan_role role, const char *part, const char *format,
                     const char *state, const char *reason)
{
    plan->role = role;
    snprintf(plan->part, sizeof plan->part, "%s", part);
    snprintf(plan->message, sizeof plan->message, format, state, reason);
}

static bool is_reserved_by_others(const struct cluster_node *node)
{
    return node->is_reserved || cluster_is_reserved_soon(node);
}

static void reserved_set(struct plan *plan, const struct cluster_node *node)
{
    plan_set(plan, ROLE_SKIP, "",
             node->is_reserved ? "left alone: it is in a reservation%s%s"
                               : "left alone: a reservation begins there within the hour%s%s",
             "", "");
}

/* Returns whether an ended job still blocks the node. For a drained node that does not answer,
 * reach decides. */
static bool is_completing(const struct cluster_node *node)
{
    return node->is_completing && !node->is_down && (node->is_responding || !node->is_drained);
}

void plan_node(const struct cluster_node *node, bool is_dry_run, bool is_named, struct plan *plan)
{
    bool is_away = node->is_down || node->is_drained || node->is_invalid;
    bool is_ours = reason_is_ours(node->reason);
    const char *part = reason_slurm_part(node->reason);
    bool is_retest =
        is_away && (is_ours || (is_named && !node->is_down && part && strcmp(part, "prolog") == 0));

    *plan = (struct plan){.role = ROLE_TEST};
    if (strlen(node->name) > CLUSTER_NODE_NAME_MOST)
        plan_set(plan, ROLE_SKIP, "", "left alone: its name is longer than 63 characters%s%s", "",
                 "");
    else if (node->is_absent)
        plan_set(plan, ROLE_SKIP, "", "left alone: %s%s", node->state, "");
    else if (node->is_allocated)
        plan_set(plan, ROLE_SKIP, "", "left alone: jobs run there (%s)%s", node->state, "");
    else if (is_retest && node->is_invalid)
        plan_set(plan, ROLE_FAULTY, "node",
                 "%s: slurmctld refuses its registration and does not resume it; next: read "
                 "slurmctld's log; drained: %s",
                 node->state, node->reason);
    else if (is_completing(node) && (is_retest || !is_away))
        plan_set(plan, ROLE_SKIP, "", "left alone: a job is still completing there%s%s", "", "");
    else if (is_retest && is_reserved_by_others(node))
        reserved_set(plan, node);
    else if (is_retest && is_dry_run)
        plan_set(plan, ROLE_SKIP, "",
                 is_ours ? "%s by muster; a dry run does not lift it: %s"
                         : "%s by Slurm; a dry run does not lift it: %s",
                 node->state, node->reason);
    else if (is_retest)
        *plan = (struct plan){.role = ROLE_RETEST, .needs_gate_refusal = !is_ours};
    else if (is_away && node->is_cloud && strncmp(node->reason, "ResumeTimeout", 13) == 0)
        plan_set(plan, ROLE_SKIP, "", "left alone: %s, its cloud did not start it in time: %s",
                 node->state, node->reason);
    else if (is_away && part)
        plan_set(plan, ROLE_FAULTY, part, "%s by Slurm: %s", node->state, node->reason);
    else if (node->is_down && !*node->reason)
        plan_set(plan, ROLE_FAULTY, "slurmd", "%s by Slurm%s", node->state, "");
    else if (is_away)
        plan_set(plan, ROLE_SKIP, "", "left alone: %s by someone else: %s", node->state,
                 *node->reason ? node->reason : "no reason given");
    else if (node->is_waiting && is_dry_run)
        plan_set(plan, ROLE_SKIP, "",
                 "left alone: it waits in reservation " CLUSTER_WAITING
                 "; a dry run does not remove it%s%s",
                 "", "");
    else if (is_reserved_by_others(node))
        reserved_set(plan, node);
    else if (!node->is_idle)
        plan_set(plan, ROLE_SKIP, "", "left alone: its state is %s%s", node->state, "");
}

bool role_is_testable(enum plan_role role)
{
    return role == ROLE_TEST || role == ROLE_RETEST;
}

const struct cluster_partition *plan_partition(const struct cluster *cluster, const char *wanted,
                                               const char *const *names, size_t count)
{
    const struct cluster_partition *best = NULL;
    size_t best_count = 0;

    for (size_t i = 0; i < cluster->partition_count; i++) {
        const struct cluster_partition *partition = &cluster->partitions[i];
        struct name_index nodes;
        size_t has = 0;

        if (wanted && strcmp(partition->name, wanted) == 0)
            return partition;
        if (wanted || !partition->is_up || partition->is_closed)
            continue;
        hostlist_index(&partition->nodes, &nodes); /* without memory it has none */
        for (size_t k = 0; k < count; k++)
            has += name_index_has(&nodes, names[k]);
        name_index_clear(&nodes);
        if (has > best_count || (has > 0 && has == best_count && partition->is_default)) {
            best = partition;
            best_count = has;
        }
    }
    return best;
}

/* Reports the names that are in the partition, and leaves the others in names. */
static int partition_report_next(const struct cluster_partition *partition, struct hostlist *names,
                                 plan_partition_fn *report, void *context)
{
    struct hostlist inside = {0}, outside = {0};
    struct name_index members = {0};
    int rv = partition ? hostlist_index(&partition->nodes, &members) : 0;

    for (size_t i = 0; rv == 0 && i < names->count; i++)
        rv = hostlist_append(!partition || name_index_has(&members, names->names[i]) ? &inside
                                                                                     : &outside,
                             names->names[i]);
    if (rv == 0)
        report(partition, &inside, context);
    name_index_clear(&members);
    hostlist_clear(&inside);
    hostlist_clear(names);
    *names = outside;
    return rv;
}

int plan_report_partitions(const struct cluster *cluster, const struct hostlist *names,
                           plan_partition_fn *report, void *context)
{
    struct hostlist remaining = {0};
    int rv = hostlist_append_all(&remaining, (const char *const *)names->names, names->count);

    while (rv == 0 && remaining.count > 0)
        rv = partition_report_next(
            plan_partition(cluster, NULL, (const char *const *)remaining.names, remaining.count),
            &remaining, report, context);
    hostlist_clear(&remaining);
    return rv;
}
