/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/certify/plan.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Reasons that Slurm sets by itself when it takes a node away (22.05 to 26.05: slurmctld's
 * node_mgr.c, ping_nodes.c, job_mgr.c, slurmd's req.c), and the part of the node that each accuses.
 * A reason that is not here was written by a person or by a site's health check. */
static const struct {
    const char *begin, *part;
} slurm_reasons[] = {
    {"Not responding", "slurmd"},
    {"gres/", "gres"},
    {"Node unexpectedly rebooted", "node"},
    {"Kill task failed", "node"},
    {"Prolog error", "prolog"},
    {"Epilog error", "epilog"},
    {"batch job complete failure", "slurmd"},
    {"Duplicate jobid", "slurmd"},
    {"Low RealMemory", "memory"},
    {"Low CPUs", "cpu"},
    {"Low socket", "cpu"},
    {"Low TmpDisk", "disk"},
    {"Low Cores", "cpu"},
    {"Invalid registration", "slurmd"},
    {"ResumeTimeout reached", "node"},
    {"reboot timed out", "node"},
    {"Reboot timeout", "node"},
    {"Slurmd start time", "slurmd"},
};

static const char *slurm_reason_part(const char *reason)
{
    for (size_t i = 0; i < sizeof slurm_reasons / sizeof *slurm_reasons; i++)
        if (strncasecmp(reason, slurm_reasons[i].begin, strlen(slurm_reasons[i].begin)) == 0)
            return slurm_reasons[i].part;
    return NULL;
}

static void plan_set(struct plan *plan, enum plan_role role, const char *part, const char *format,
                     const char *state, const char *reason)
{
    plan->role = role;
    snprintf(plan->part, sizeof plan->part, "%s", part);
    snprintf(plan->message, sizeof plan->message, format, state, reason);
}

void plan_node(const struct cluster_node *node, bool is_dry_run, struct plan *plan)
{
    bool is_away = node->is_down || node->is_drained || node->is_invalid;
    const char *part = slurm_reason_part(node->reason);

    *plan = (struct plan){.role = ROLE_TEST};
    if (node->is_absent)
        plan_set(plan, ROLE_LEAVE, "", "left alone: %s%s", node->state, "");
    else if (node->is_allocated)
        plan_set(plan, ROLE_LEAVE, "", "left alone: jobs run there (%s)%s", node->state, "");
    else if (is_away && strncmp(node->reason, PLAN_PREFIX, strlen(PLAN_PREFIX)) == 0 && is_dry_run)
        plan_set(plan, ROLE_LEAVE, "", "%s by muster, and a dry run does not lift it: %s",
                 node->state, node->reason);
    else if (is_away && strncmp(node->reason, PLAN_PREFIX, strlen(PLAN_PREFIX)) == 0)
        plan->role = ROLE_RETEST;
    else if (is_away && part)
        plan_set(plan, ROLE_FAULTY, part, "%s by Slurm: %s", node->state, node->reason);
    else if (node->is_down && !*node->reason)
        plan_set(plan, ROLE_FAULTY, "slurmd", "%s by Slurm%s", node->state, "");
    else if (is_away)
        plan_set(plan, ROLE_LEAVE, "", "left alone: %s by somebody else: %s", node->state,
                 *node->reason ? node->reason : "no reason given");
    else if (node->is_reserved)
        plan_set(plan, ROLE_LEAVE, "", "left alone: it is in a reservation%s%s", "", "");
    else if (node->is_completing)
        plan_set(plan, ROLE_LEAVE, "", "left alone: a job is still completing there%s%s", "", "");
    else if (!node->is_idle)
        plan_set(plan, ROLE_LEAVE, "", "left alone: its state is %s%s", node->state, "");
}

const struct cluster_partition *plan_partition(const struct cluster *cluster, const char *wanted,
                                               const char *const *names, size_t count)
{
    const struct cluster_partition *best = NULL;
    size_t best_count = 0;

    for (size_t i = 0; i < cluster->partition_count; i++) {
        const struct cluster_partition *partition = &cluster->partitions[i];
        size_t has = 0;

        if (wanted && strcmp(partition->name, wanted) == 0)
            return partition;
        if (wanted || !partition->is_up)
            continue;
        for (size_t k = 0; k < count; k++)
            has += hostlist_contains(&partition->nodes, names[k]);
        if (has > best_count || (has > 0 && has == best_count && partition->is_default)) {
            best = partition;
            best_count = has;
        }
    }
    return best;
}

size_t plan_drain_cap(size_t nodes, double percent)
{
    size_t cap = (size_t)ceil((double)nodes * percent / 100 - 1e-9);

    return cap < 1 ? 1 : cap;
}

void plan_reason(const char *test, const char *part, const char *message, time_t now, char *reason,
                 size_t size)
{
    char date[16];
    struct tm day;
    bool is_named = !*part || strncmp(message, part, strlen(part)) == 0;
    int room;

    gmtime_r(&now, &day);
    strftime(date, sizeof date, "%Y-%m-%d", &day);
    room = (int)size - (int)strlen(date) - 2;
    snprintf(reason, room > 0 ? (size_t)room : 0, PLAN_PREFIX " %s %s%s%s", test,
             is_named ? "" : part, is_named ? "" : " ", message);
    for (char *c = reason; *c; c++)
        if (*c == '\n' || *c == '\'' || *c == '"')
            *c = ' ';
    snprintf(reason + strlen(reason), size - strlen(reason), " %s", date);
}

/* The next word that is not a figure or a date, NULL at the end. */
static const char *next_word(const char **text, size_t *length)
{
    const char *word;

    do {
        word = *text + strspn(*text, " ");
        *length = strcspn(word, " ");
        *text = word + *length;
    } while (*length > 0 && isdigit((unsigned char)*word));
    return *length > 0 ? word : NULL;
}

bool plan_is_same_reason(const char *then, const char *now)
{
    const char *a, *b;
    size_t a_length, b_length;

    do {
        a = next_word(&then, &a_length);
        b = next_word(&now, &b_length);
    } while (a && b && a_length == b_length && strncmp(a, b, a_length) == 0);
    return !a && !b;
}

const char *stage_name(enum stage stage)
{
    static const char *const names[] = {"reach", "check", "launch", "links", "collectives"};

    return stage < STAGE_COUNT ? names[stage] : "";
}

/* A stage with something passed and something skipped is passed. */
static int weight_of(enum verdict verdict)
{
    return verdict == VERDICT_SKIP ? 1 : verdict == VERDICT_NONE ? 0 : (int)verdict + 2;
}

void outcome_note(struct outcome *outcome, enum stage stage, enum verdict verdict, const char *test,
                  const char *part, const char *message)
{
    if (weight_of(verdict) > weight_of(outcome->stages[stage]))
        outcome->stages[stage] = verdict;
    if (verdict <= outcome->verdict || verdict < VERDICT_WARN)
        return;
    outcome->verdict = verdict;
    outcome->stage = stage;
    snprintf(outcome->test, sizeof outcome->test, "%s", test ? test : "");
    snprintf(outcome->part, sizeof outcome->part, "%s", part ? part : "");
    snprintf(outcome->message, sizeof outcome->message, "%s", message ? message : "");
}

bool outcome_is_good(const struct outcome *outcome)
{
    return outcome->verdict < VERDICT_UNKNOWN;
}

enum verdict outcome_conclude(struct outcome *outcome)
{
    if (outcome->verdict >= VERDICT_UNKNOWN)
        return outcome->verdict;
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        char text[64];

        if (outcome->stages[stage] == VERDICT_PASS || outcome->stages[stage] == VERDICT_WARN)
            continue;
        snprintf(text, sizeof text, "%s was not run to its end", stage_name((enum stage)stage));
        outcome_note(outcome, (enum stage)stage, VERDICT_UNKNOWN, "certify", "", text);
        return VERDICT_UNKNOWN;
    }
    return VERDICT_PASS;
}

int plan_exit_status(const enum verdict *verdicts, size_t count, bool is_fault)
{
    int status = count == 0 ? 3 : is_fault ? 1 : 0;

    for (size_t i = 0; i < count; i++) {
        if (verdicts[i] == VERDICT_FAIL)
            return 1;
        if (verdicts[i] != VERDICT_PASS && status == 0)
            status = 3;
    }
    return status;
}
