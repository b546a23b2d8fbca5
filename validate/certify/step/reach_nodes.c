/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/step/reach_nodes.h"

#include <stdlib.h>
#include <string.h>

enum { REACH_S = 4 };

/* Asks those subjects for which is_wanted says so. Returns how many do not answer. */
static size_t ask(struct certify *certify, enum stage stage,
                  bool (*is_wanted)(const struct subject *subject,
                                    const struct hostlist_set *names),
                  const struct hostlist_set *names)
{
    struct cluster_node **nodes = calloc(certify->count + 1, sizeof(*nodes));
    struct subject **subjects = calloc(certify->count + 1, sizeof(*subjects));
    struct reach *answers = calloc(certify->count + 1, sizeof *answers);
    size_t count = 0, silent = 0, no_munge = 0;
    struct error err;

    for (size_t i = 0; nodes && subjects && answers && i < certify->count; i++) {
        if (!is_wanted(&certify->subjects[i], names))
            continue;
        nodes[count] = certify->subjects[i].slurm;
        subjects[count++] = &certify->subjects[i];
    }
    if (!nodes || !subjects || !answers ||
        certify->operations->reach_nodes(nodes, count, REACH_S, &certify_stop, answers, &err) != 0)
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
        subjects[i]->is_silent |= verdict == VERDICT_FAIL && stage != STAGE_REACH;
        /* In a later stage an answer says nothing about that stage. */
        if (verdict != VERDICT_PASS || stage == STAGE_REACH)
            certify_fault(certify, subjects[i], stage, verdict, reach_code(state),
                          "workers.enumerate", reach_part(state), answers[i].message);
    }
    free(nodes);
    free(subjects);
    free(answers);
    return silent;
}

static bool is_wanted_first(const struct subject *subject, const struct hostlist_set *names)
{
    (void)names;
    return subject->plan.role != ROLE_LEAVE;
}

static bool is_wanted_again(const struct subject *subject, const struct hostlist_set *names)
{
    return outcome_is_good(&subject->outcome) && hostlist_set_contains(names, subject->name);
}

size_t certify_reach_again(struct certify *certify, const struct hostlist *names, enum stage stage)
{
    struct hostlist_set set;
    size_t silent;

    if (hostlist_set_make(names, &set) != 0)
        return 0; /* nobody can be asked */
    silent = ask(certify, stage, is_wanted_again, &set);
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
    ask(certify, STAGE_REACH, is_wanted_first, NULL);
}
