/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/step/reach_nodes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/constants/certify_constants.h"
#include "validate/certify/report/run_records.h"

/* Whether the controller misses the node too. */
static bool is_missed_by_slurm(const struct cluster *now, const char *name)
{
    const struct cluster_node *node = cluster_node(now, name);

    return node && (!node->is_responding || node->is_down);
}

/* Returns whether the node is gone by intent, as after an administrator's reboot or power-down;
 * then text says so. */
static bool is_absent_in_slurm(const struct cluster *now, const char *name, char *text, size_t size)
{
    const struct cluster_node *node = cluster_node(now, name);

    if (!node || !node->is_absent)
        return false;
    snprintf(text, size, "left alone: %s", node->state);
    return true;
}

/* Returns whether answers that blame their nodes may be this host's fault: then the controller must
 * be queried. */
static bool is_any_one_sided(const struct reach *answers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (reach_kind(answers[i].state)->is_one_sided)
            return true;
    return false;
}

/* Returns the stage in which the node stopped answering. For a node that was cut off this is the
 * stage that found it, whenever it is queried again: faults that are alike are of one stage
 * (settle/alike.c). */
static enum stage stage_found(const struct node_run *node_run, enum stage stage)
{
    const struct outcome *outcome = &node_run->outcome;

    for (size_t i = 0; node_run->is_cut_off && i < outcome->fault_count; i++)
        if (outcome->faults[i].code == FAULT_NODE_UNREACHABLE)
            return outcome->faults[i].stage;
    return stage;
}

/* Queries the slurmd of the nodes for which is_wanted() holds. Returns how many do not answer. */
static size_t reach_all(struct certify *certify, enum stage stage,
                        bool (*is_wanted)(const struct node_run *node_run,
                                          const struct name_index *names),
                        const struct name_index *names)
{
    struct cluster_node **nodes = calloc(certify->count + 1, sizeof(*nodes));
    struct node_run **node_runs = calloc(certify->count + 1, sizeof(*node_runs));
    struct reach *answers = calloc(certify->count + 1, sizeof *answers);
    size_t count = 0, silent = 0, answering = 0, no_munge = 0;
    struct cluster now = {0};
    struct error err;

    for (size_t i = 0; nodes && node_runs && answers && i < certify->count; i++) {
        if (!is_wanted(&certify->node_runs[i], names))
            continue;
        nodes[count] = certify->node_runs[i].slurm;
        node_runs[count++] = &certify->node_runs[i];
    }
    if (!nodes || !node_runs || !answers ||
        certify->operations->reach_nodes(nodes, count, CERTIFY_REACH_S, &certify_stop, answers,
                                         &err) != 0)
        count = 0;
    for (size_t i = 0; i < count; i++) {
        answering += answers[i].state == REACH_ANSWERS;
        no_munge += answers[i].state == REACH_NO_MUNGE;
    }
    if (is_any_one_sided(answers, count))
        (void)certify->operations->load_nodes(&now, &err); /* else nobody is known to be missed */
    for (size_t i = 0; i < count; i++) {
        enum stage found = stage_found(node_runs[i], stage);
        enum reach_state state = answers[i].state;
        enum verdict verdict = state == REACH_ANSWERS          ? VERDICT_PASS
                               : reach_kind(state)->is_failure ? VERDICT_FAIL
                                                               : VERDICT_UNKNOWN;
        char text[256];
        bool is_absent = reach_kind(state)->is_one_sided &&
                         is_absent_in_slurm(&now, node_runs[i]->name, text, sizeof text);

        if (is_absent)
            verdict = VERDICT_UNKNOWN;
        else
            snprintf(text, sizeof text, "%s", answers[i].message);
        node_runs[i]->is_cut_off = !is_absent && reach_kind(state)->is_one_sided &&
                                   !is_missed_by_slurm(&now, node_runs[i]->name);
        if (node_runs[i]->is_cut_off) {
            verdict = VERDICT_UNKNOWN;
            snprintf(text, sizeof text,
                     "%s; slurmctld does not miss it: check names and network of this host",
                     answers[i].message);
        }
        /* Refused by several nodes, or accepted by none: a key is being changed, or this host's is
         * wrong. */
        if (state == REACH_NO_MUNGE && (no_munge > 1 || answering == 0))
            verdict = VERDICT_UNKNOWN;
        /* In the middle of a stage, an address or route that this host lacks is no reason to end
         * the stage. */
        if (stage != STAGE_REACH && (state == REACH_NO_ADDRESS || state == REACH_NO_ROUTE))
            continue;
        if (verdict != VERDICT_PASS)
            silent++;
        node_runs[i]->is_silent |=
            (verdict == VERDICT_FAIL || node_runs[i]->is_cut_off || is_absent) &&
            stage != STAGE_REACH;
        /* In a later stage an answer says nothing about that stage. */
        if (is_absent)
            certify_fault(certify, node_runs[i], found, verdict, FAULT_NODE_AWAY, "slurm.state", "",
                          text);
        else if (verdict != VERDICT_PASS || stage == STAGE_REACH)
            certify_fault(certify, node_runs[i], found, verdict, reach_kind(state)->code,
                          "workers.enumerate", reach_kind(state)->part, text);
    }
    cluster_clear(&now);
    free(nodes);
    free(node_runs);
    free(answers);
    return silent;
}

static bool is_wanted_first(const struct node_run *node_run, const struct name_index *names)
{
    (void)names;
    return node_run->plan.role != ROLE_SKIP;
}

static bool is_wanted_again(const struct node_run *node_run, const struct name_index *names)
{
    return outcome_is_good(&node_run->outcome) && name_index_has(names, node_run->name);
}

size_t certify_reach_again(struct certify *certify, const struct hostlist *names, enum stage stage)
{
    struct name_index set;
    size_t silent;

    if (hostlist_index(names, &set) != 0)
        return 0; /* nobody can be asked */
    silent = reach_all(certify, stage, is_wanted_again, &set);
    name_index_clear(&set);
    return silent;
}

void certify_reach_last(struct certify *certify)
{
    struct hostlist names = {0};

    if (certify_list_good(certify, &names) > 0)
        certify_reach_again(certify, &names, STAGE_CERTIFICATE);
    hostlist_clear(&names);
}

static bool is_cut_off(const struct node_run *node_run, const struct name_index *names)
{
    (void)names;
    return node_run->is_cut_off;
}

/* Returns whether the controller may still notice that a node does not answer: it contacts all
 * nodes of a job that has ended. */
static bool is_awaited(const struct certify *certify)
{
    struct cluster now = {0};
    bool is_any = false;

    if (certify->operations->load_nodes(&now, NULL) != 0)
        return true;
    for (size_t i = 0; i < certify->count; i++)
        is_any |= certify->node_runs[i].is_cut_off && certify->node_runs[i].is_silent &&
                  !is_missed_by_slurm(&now, certify->node_runs[i].name);
    cluster_clear(&now);
    return is_any;
}

void certify_reach_cut_off(struct certify *certify)
{
    double begin = clock_s();
    bool is_any = false;

    for (size_t i = 0; i < certify->count; i++)
        is_any |= certify->node_runs[i].is_cut_off;
    while (is_any && !certify->options.is_dry_run && !certify_stop &&
           clock_s() - begin < CERTIFY_MISSED_S && is_awaited(certify))
        sleep(1);
    if (is_any && !certify_stop)
        reach_all(certify, STAGE_CERTIFICATE, is_cut_off, NULL);
}

void certify_reach_first(struct certify *certify)
{
    reach_all(certify, STAGE_REACH, is_wanted_first, NULL);
}
