/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/step/reach_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "lib/constants/certify_constants.h"
#include "validate/certify/report/run_records.h"

/* Reaches those nodes for which is_wanted() holds. Returns how many do not answer. */
static size_t reach_all(struct certify *certify, enum stage stage,
                        bool (*is_wanted)(const struct node_run *node_run,
                                          const struct hostlist_set *names),
                        const struct hostlist_set *names)
{
    struct cluster_node **nodes = calloc(certify->count + 1, sizeof(*nodes));
    struct node_run **node_runs = calloc(certify->count + 1, sizeof(*node_runs));
    struct reach *answers = calloc(certify->count + 1, sizeof *answers);
    size_t count = 0, silent = 0, no_munge = 0;
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
    for (size_t i = 0; i < count; i++)
        no_munge += answers[i].state == REACH_NO_MUNGE;
    for (size_t i = 0; i < count; i++) {
        enum reach_state state = answers[i].state;
        enum verdict verdict = state == REACH_ANSWERS    ? VERDICT_PASS
                               : reach_is_failure(state) ? VERDICT_FAIL
                                                         : VERDICT_UNKNOWN;

        /* Refused by several: then a key is being changed, or it is this host's that is wrong. */
        if (state == REACH_NO_MUNGE && no_munge > 1)
            verdict = VERDICT_UNKNOWN;
        /* In the middle of a stage what this host lacks is no reason to end that. */
        if (stage != STAGE_REACH && (state == REACH_NO_ADDRESS || state == REACH_NO_ROUTE))
            continue;
        if (verdict != VERDICT_PASS)
            silent++;
        node_runs[i]->is_silent |= verdict == VERDICT_FAIL && stage != STAGE_REACH;
        /* In a later stage an answer says nothing about that stage. */
        if (verdict != VERDICT_PASS || stage == STAGE_REACH)
            certify_fault(certify, node_runs[i], stage, verdict, reach_code(state),
                          "workers.enumerate", reach_part(state), answers[i].message);
    }
    free(nodes);
    free(node_runs);
    free(answers);
    return silent;
}

static bool is_wanted_first(const struct node_run *node_run, const struct hostlist_set *names)
{
    (void)names;
    return node_run->plan.role != ROLE_LEAVE;
}

static bool is_wanted_again(const struct node_run *node_run, const struct hostlist_set *names)
{
    return outcome_is_good(&node_run->outcome) && hostlist_set_contains(names, node_run->name);
}

size_t certify_reach_again(struct certify *certify, const struct hostlist *names, enum stage stage)
{
    struct hostlist_set set;
    size_t silent;

    if (hostlist_set_make(names, &set) != 0)
        return 0; /* nobody can be asked */
    silent = reach_all(certify, stage, is_wanted_again, &set);
    hostlist_set_clear(&set);
    return silent;
}

void certify_reach_last(struct certify *certify)
{
    struct hostlist names;

    if (certify_good(certify, &names) > 0)
        certify_reach_again(certify, &names, STAGE_CERTIFICATE);
    hostlist_clear(&names);
}

void certify_reach_first(struct certify *certify)
{
    reach_all(certify, STAGE_REACH, is_wanted_first, NULL);
}
