/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/choose/changes.h"

#include <string.h>

#include "lib/base/clock.h"
#include "lib/constants/certify_constants.h"
#include "validate/certify/report/run_records.h"

/* Plans a node by its present state. The run's reservation is no obstacle, nor is its job, which
 * still exists while the next one is requested. */
static void plan_again(const struct certify *certify, const struct cluster_node *node,
                       bool has_our_job, struct plan *plan)
{
    struct cluster_node seen = *node;

    seen.is_reserved &= !*certify->reservation;
    if (*certify->reservation || has_our_job) /* the run ends before that */
        seen.reserved_at = 0;
    seen.is_completing = false; /* it is the caller's to say for how long */
    if (has_our_job) {
        seen.is_allocated = false;
        seen.is_idle = true;
    }
    plan_node(&seen, false, false, plan);
}

/* Notes what the node's state means for the run. is_refused: Slurm did not start a job of the run.
 * is_hung: a canceled job does not end there. Returns whether the node is no longer available. */
static bool change_note(struct certify *certify, struct node_run *node_run,
                        const struct cluster_node *node, bool has_our_job, bool is_refused,
                        bool is_hung)
{
    struct plan plan;
    char text[256];

    if (!outcome_is_good(&node_run->outcome)) { /* it failed, and is to lose its certificate */
        bool was_missed = node_run->lacks_certificate_job;

        plan_again(certify, node, has_our_job || node->is_completing, &plan);
        node_run->lacks_certificate_job |=
            certify->job == JOB_CERTIFICATES && (is_hung || plan.role != ROLE_TEST);
        return node_run->lacks_certificate_job && !was_missed;
    }
    plan_again(certify, node, has_our_job, &plan);
    if (plan.role == ROLE_FAULTY) {
        certify_verdict(certify, node_run, STAGE_REACH, VERDICT_FAIL, "slurm.state", plan.part,
                        plan.message);
        node_run->plan.role = ROLE_FAULTY; /* the drain is Slurm's */
    } else if (plan.role == ROLE_RETEST &&
               (node_run->plan.role == ROLE_TEST || node_run->is_resumed)) {
        snprintf(text, sizeof text, "drained during the run by its health check: %.200s",
                 node->reason);
        certify_fault(certify, node_run, STAGE_REACH, VERDICT_UNKNOWN, FAULT_NOT_MEASURED,
                      "slurm.state", "", text);
    } else if (plan.role == ROLE_SKIP && !node->is_completing) {
        certify_verdict(certify, node_run, STAGE_REACH, VERDICT_UNKNOWN, "slurm.state", "",
                        plan.message);
    } else if (is_refused && !node->is_responding) { /* Slurm starts no job there */
        certify_fault(certify, node_run, STAGE_REACH, VERDICT_UNKNOWN, FAULT_NODE_AWAY,
                      "slurm.state", "slurmd",
                      "its slurmd answers this host, but slurmctld takes it for not responding; "
                      "certify again in a few minutes");
    } else if (is_hung) {
        certify_fault(certify, node_run, STAGE_REACH, VERDICT_UNKNOWN, FAULT_LAUNCH_FAILED,
                      "slurm.state", "prolog",
                      "a job does not start or end there; check its prolog and epilog");
    } else {
        return false;
    }
    node_run->lacks_certificate_job |= certify->job == JOB_CERTIFICATES;
    return true;
}

/* Returns whether the canceled job is stuck on the nodes where it has not ended: it has ended
 * on other nodes, whose epilogs may take as long, and for CERTIFY_HUNG_S on no further node. */
static bool ending_is_stuck(struct ending *ending, const struct cluster *now,
                            const struct hostlist *names)
{
    struct hostlist left = {0};
    bool is_same;

    for (size_t i = 0; i < names->count; i++) {
        const struct cluster_node *node = cluster_node(now, names->names[i]);

        if (node && node->is_completing)
            hostlist_append(&left, node->name);
    }
    is_same = left.count == ending->nodes.count;
    for (size_t i = 0; is_same && i < left.count; i++)
        is_same = strcmp(left.names[i], ending->nodes.names[i]) == 0;
    if (!is_same)
        ending->since = clock_s();
    hostlist_clear(&ending->nodes);
    ending->nodes = left;
    return left.count < names->count && clock_s() - ending->since >= CERTIFY_HUNG_S;
}

size_t certify_changes_note(struct certify *certify, const struct hostlist *names, bool has_our_job,
                            struct ending *ending)
{
    struct cluster now;
    size_t changed = 0;
    bool is_stuck;

    if (certify->operations->load_nodes(&now, NULL) != 0)
        return 0;
    is_stuck = ending && ending_is_stuck(ending, &now, names);
    for (size_t i = 0; i < names->count; i++) {
        struct node_run *node_run = certify_node_run(certify, names->names[i]);
        const struct cluster_node *node = cluster_node(&now, node_run->name);

        changed += node && change_note(certify, node_run, node, has_our_job, ending != NULL,
                                       is_stuck && node->is_completing);
    }
    cluster_clear(&now);
    return changed;
}

size_t certify_freed_note(struct certify *certify, const struct hostlist *names)
{
    struct hostlist held = {0};
    struct name_index inside = {0};
    struct error err;
    size_t freed = 0;
    int found = *certify->reservation
                    ? certify->operations->reservation(certify->reservation, &held, NULL, &err)
                    : 0;
    bool is_known = found == 1 && hostlist_index(&held, &inside) == 0;

    for (size_t i = 0; is_known && i < names->count; i++) {
        struct node_run *node_run = certify_node_run(certify, names->names[i]);

        if (name_index_has(&inside, node_run->name) ||
            (!outcome_is_good(&node_run->outcome) && certify->job != JOB_CERTIFICATES))
            continue;
        if (outcome_is_good(&node_run->outcome))
            certify_fault(certify, node_run, STAGE_REACH, VERDICT_UNKNOWN, FAULT_NODE_AWAY,
                          "slurm.state", "",
                          "left alone: it was removed from the run's reservation meanwhile");
        node_run->lacks_certificate_job |= certify->job == JOB_CERTIFICATES;
        freed++;
    }
    name_index_clear(&inside);
    hostlist_clear(&held);
    return freed;
}
