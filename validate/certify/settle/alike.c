/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/settle/alike.h"

#include <stdlib.h>
#include <string.h>

#include "validate/certify/report/run_records.h"

/* A failure that many nodes share fails none of them. It is reported above the table, without a
 * node. Nodes that muster drained earlier do not count: each had a fault of its own. */

enum { ANY_LEAF = -1 }; /* all nodes, whatever their leaf switch */

static int leaf_of(const struct node_run *node_run)
{
    return node_run->slurm ? node_run->slurm->leaf : ANY_LEAF;
}

/* Returns whether the node counts, and is on that leaf. */
static bool is_counted(const struct node_run *node_run, int leaf)
{
    return node_run->plan.role == ROLE_TEST && (leaf == ANY_LEAF || leaf_of(node_run) == leaf);
}

/* Returns whether a leaf switch may cause the fault on its nodes. These are few in a large cluster.
 */
static bool may_be_switch_fault(const struct outcome_fault *fault)
{
    return fault->code == FAULT_NODE_UNREACHABLE || fault->code == FAULT_LINK_DOWN;
}

/* Returns whether two faults are alike. Faults of processes have many codes and often one cause. */
static bool is_alike(const struct outcome_fault *fault, const struct outcome_fault *other)
{
    return fault->stage == other->stage &&
           (fault->code == other->code ||
            (catalog_is_of_process(fault->code) && catalog_is_of_process(other->code))) &&
           alike_is_same_kind(fault->part, other->part);
}

/* Returns whether the node has the fault. slurmctld notices the nodes of one outage one by one, so
 * a node that is cut off counts as unreachable at once. */
static bool has_fault(const struct node_run *node_run, const struct outcome_fault *fault)
{
    return fault->verdict == VERDICT_FAIL || fault->is_common ||
           (node_run->is_cut_off && fault->code == FAULT_NODE_UNREACHABLE);
}

/* Returns how many nodes of the leaf reached that stage. */
static size_t tested_count(const struct certify *certify, enum stage stage, int leaf)
{
    size_t count = 0;

    for (size_t i = 0; i < certify->count; i++) {
        const struct outcome *outcome = &certify->node_runs[i].outcome;
        bool is_there = outcome_is_good(outcome);

        for (size_t k = 0; k < outcome->fault_count && !is_there; k++)
            is_there =
                outcome->faults[k].verdict >= VERDICT_UNKNOWN && outcome->faults[k].stage >= stage;
        count += is_counted(&certify->node_runs[i], leaf) && is_there;
    }
    return count;
}

/* Counts the nodes of the leaf that have such a fault: at the same part, and at a part of its kind.
 */
static void alike_count(const struct certify *certify, const struct outcome_fault *fault, int leaf,
                        size_t *same, size_t *kind)
{
    *same = *kind = 0;
    for (size_t i = 0; i < certify->count; i++) {
        const struct outcome *outcome = &certify->node_runs[i].outcome;
        bool is_same = false, is_kind = false;

        for (size_t k = 0; k < outcome->fault_count && is_counted(&certify->node_runs[i], leaf);
             k++) {
            const struct outcome_fault *other = &outcome->faults[k];

            if (!has_fault(&certify->node_runs[i], other) || !is_alike(fault, other))
                continue;
            is_kind = true;
            is_same |= strcmp(fault->part, other->part) == 0;
        }
        *same += is_same;
        *kind += is_kind;
    }
}

/* Excuses the fault on all nodes, at parts of its kind, or on a single leaf, at the same part only.
 * A node that is decided about keeps its decision. */
static void fault_excuse(struct certify *certify, const struct outcome_fault *fault, int leaf)
{
    for (size_t i = 0; i < certify->count; i++) {
        struct node_run *node_run = &certify->node_runs[i];
        struct outcome *outcome = &node_run->outcome;

        for (size_t k = 0; k < outcome->fault_count;) {
            const struct outcome_fault *other = &outcome->faults[k];

            if (is_counted(node_run, leaf) && !node_run->is_decided &&
                other->verdict == VERDICT_FAIL && is_alike(fault, other) &&
                (leaf == ANY_LEAF || strcmp(fault->part, other->part) == 0))
                outcome_excuse(outcome, k); /* it moves behind the failures */
            else
                k++;
        }
    }
}

/* Returns whether enough nodes of its leaf have the fault at the same part to suspect the switch.
 */
static bool is_switch_fault(const struct certify *certify, const struct node_run *node_run,
                            const struct outcome_fault *fault)
{
    int leaf = leaf_of(node_run);
    size_t same, kind;

    if (leaf == ANY_LEAF || !may_be_switch_fault(fault))
        return false;
    alike_count(certify, fault, leaf, &same, &kind);
    return alike_is_common(same, same, tested_count(certify, fault->stage, leaf));
}

void certify_excuse_common(struct certify *certify)
{
    for (size_t i = 0; i < certify->count; i++) {
        struct node_run *node_run = &certify->node_runs[i];

        for (size_t k = 0; k < node_run->outcome.fault_count && is_counted(node_run, ANY_LEAF);) {
            struct outcome_fault fault = node_run->outcome.faults[k];
            size_t same, kind;

            if (fault.verdict != VERDICT_FAIL || node_run->is_decided)
                break; /* failures are first */
            alike_count(certify, &fault, ANY_LEAF, &same, &kind);
            if (alike_is_common(same, kind, tested_count(certify, fault.stage, ANY_LEAF)))
                fault_excuse(certify, &fault, ANY_LEAF);
            else if (is_switch_fault(certify, node_run, &fault))
                fault_excuse(certify, &fault, leaf_of(node_run));
            else
                k++; /* after an excuse, index k holds another fault */
        }
    }
}

/* Returns whether the report of a common fault includes this fault of the node. A failure of the
 * node itself, as on another leaf, is not included. */
static bool is_included(const struct node_run *node_run, const struct outcome_fault *fault)
{
    return is_counted(node_run, ANY_LEAF) && has_fault(node_run, fault) &&
           (fault->verdict != VERDICT_FAIL || node_run->is_decided);
}

static void common_fault_report(struct certify *certify, const struct outcome_fault *fault)
{
    struct hostlist names = {0};
    char text[700];

    for (size_t i = 0; i < certify->count; i++) {
        const struct outcome *outcome = &certify->node_runs[i].outcome;
        bool is_one = false;

        for (size_t k = 0; k < outcome->fault_count; k++)
            is_one |= is_included(&certify->node_runs[i], &outcome->faults[k]) &&
                      is_alike(fault, &outcome->faults[k]);
        if (is_one)
            hostlist_append(&names, certify->node_runs[i].name);
    }
    text_put(text, sizeof text,
             "%zu of %zu nodes fail alike in %s: %s%s%s: %s; suspect the network, this host or the "
             "configuration; no node drained: %s",
             names.count, tested_count(certify, fault->stage, ANY_LEAF), stage_name(fault->stage),
             fault->test, *fault->part ? " " : "", fault->part, fault->message,
             hostlist_text(&names).text);
    hostlist_append(&certify->headlines, text);
    certify_record(certify,
                   RECORD(.suite = "certify", .test = "certify", .metric = "alike",
                          .part = fault->part, .value = (double)names.count, .unit = "count",
                          .verdict = VERDICT_UNKNOWN, .code = FAULT_MANY_ALIKE, .message = text));
    hostlist_clear(&names);
}

void certify_report_common(struct certify *certify)
{
    for (size_t i = 0; i < certify->count; i++) {
        const struct outcome *outcome = &certify->node_runs[i].outcome;

        for (size_t k = 0; k < outcome->fault_count; k++) {
            bool is_reported = !outcome->faults[k].is_common;

            for (size_t j = 0; j <= i && !is_reported; j++) {
                const struct outcome *before = &certify->node_runs[j].outcome;

                for (size_t m = 0; m < (j < i ? before->fault_count : k) && !is_reported; m++)
                    is_reported = before->faults[m].is_common &&
                                  is_alike(&before->faults[m], &outcome->faults[k]);
            }
            if (!is_reported)
                common_fault_report(certify, &outcome->faults[k]);
        }
    }
}
