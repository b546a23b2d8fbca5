/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/scheduling/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Limits of QOS and associations: whether they are in force, can be reached, and hold. */

struct limit {
    const char *key;
    enum { TRES, NUMBER, TIME } type;
    bool is_group, is_minimum, is_per_node;
};

static const struct limit limits[] = {
    {"MaxTRES", TRES, .is_group = false},       {"MaxTRESPerNode", TRES, .is_per_node = true},
    {"MaxTRESPU", TRES, .is_group = false},     {"MaxTRESPA", TRES, .is_group = false},
    {"GrpTRES", TRES, .is_group = true},        {"MaxJobs", NUMBER, .is_group = false},
    {"MaxJobsPU", NUMBER, .is_group = false},   {"MaxJobsPA", NUMBER, .is_group = false},
    {"MaxSubmit", NUMBER, .is_group = false},   {"MaxSubmitPU", NUMBER, .is_group = false},
    {"MaxSubmitPA", NUMBER, .is_group = false}, {"GrpJobs", NUMBER, .is_group = true},
    {"GrpSubmit", NUMBER, .is_group = true},    {"MaxWall", TIME, .is_group = false},
    {"GrpWall", TIME, .is_group = true},        {"GrpTRESMins", TRES, .is_group = true},
    {"MinTRES", TRES, .is_minimum = true},
};
enum { LIMITS = sizeof limits / sizeof *limits };

/* A limit that a QOS or an association has and did not inherit. */
struct held {
    enum cluster_text what;
    const struct site_record *record;
    const struct limit *limit;
    const char *value;
    struct text_line object;
};

static void check_enforced(struct policy_findings *findings, const struct held *held)
{
    const struct limit *limit = held->limit;
    const char *enforce = site_config(findings->site, "AccountingStorageEnforce");

    if (!policy_enforces(findings->site, "limits") &&
        !policy_has(findings, POLICY_LIMITS_NOT_ENFORCED))
        policy_add(findings, POLICY_LIMITS_NOT_ENFORCED, "AccountingStorageEnforce", "slurm.conf",
                   "AccountingStorageEnforce is %s, but %s, for example, has %s=%s",
                   *enforce ? enforce : "none", held->object.text, limit->key, held->value);
    if (strcmp(limit->key, "GrpTRESMins") == 0 && policy_enforces(findings->site, "limits") &&
        strcasestr(site_config(findings->site, "PriorityType"), "multifactor") && /* else idle */
        !site_list_has(enforce, "safe") && !site_list_has(enforce, "all") &&
        !policy_has(findings, POLICY_MINUTES_NOT_SAFE))
        policy_add(findings, POLICY_MINUTES_NOT_SAFE, "AccountingStorageEnforce", "slurm.conf",
                   "AccountingStorageEnforce is %s, but %s has GrpTRESMins=%s", enforce,
                   held->object.text, held->value);
}

/* Checks the names of TRES in a limit: whether they are tracked, and typed ones against the
 * untyped. */
static void check_names(struct policy_findings *findings, const struct held *held)
{
    const struct limit *limit = held->limit;
    const struct site *site = findings->site;
    const char *tracked = site_config(site, "AccountingStorageTRES"), *list = held->value;
    char word[256], untyped[256];

    while (limit->type == TRES && site_word(&list, word, sizeof word)) {
        char *equal = strchr(word, '='), *colon;
        double typed_limit, untyped_limit;

        if (!equal || !strchr(word, '/'))
            continue;
        *equal = '\0';
        if (!site_list_has(tracked, word)) {
            policy_add(findings, POLICY_GRES_NOT_TRACKED, "AccountingStorageTRES",
                       held->object.text, "%s=%s, but AccountingStorageTRES does not contain %s",
                       limit->key, held->value, word);
            continue;
        }
        colon = strchr(word, ':');
        if (!colon || limit->is_minimum)
            continue;
        snprintf(untyped, sizeof untyped, "%.*s", (int)(colon - word), word);
        typed_limit = site_tres(held->value, word);
        untyped_limit = site_tres(held->value, untyped);
        if (isnan(untyped_limit) || typed_limit < untyped_limit) {
            bool has_guard = *site_config(site, "JobSubmitPlugins");

            policy_add(findings, POLICY_TYPED_GRES_HOLE, NULL, held->object.text,
                       "%s=%s, and %s %s%s", limit->key, held->value,
                       isnan(untyped_limit) ? "no" : "more of", untyped,
                       has_guard ? "; unless a plugin of JobSubmitPlugins requires a type" : "");
            if (has_guard && findings->count > 0)
                findings->items[findings->count - 1].verdict = VERDICT_WARN;
        } else if (typed_limit > untyped_limit) {
            policy_add(findings, POLICY_TYPED_ABOVE_UNTYPED, NULL, held->object.text, "%s=%s",
                       limit->key, held->value);
        }
    }
}

/* Returns what all nodes have of the TRES together or, with is_per_node, the largest one. */
static double cluster_has(const struct site *site, const char *tres, bool is_per_node)
{
    const struct site_record *node = NULL;
    double sum = 0, most = 0;

    if (strcasecmp(tres, "node") == 0)
        return is_per_node ? 1 : (double)site->tables[CLUSTER_NODES].count;
    while (site_next(site, CLUSTER_NODES, &node)) {
        double one = site_tres(site_value(node, "CfgTRES"), tres);

        if (!isnan(one)) {
            sum += one;
            most = fmax(most, one);
        }
    }
    return is_per_node ? most : sum;
}

static void check_size(struct policy_findings *findings, const struct held *held)
{
    const struct limit *limit = held->limit;
    const struct site *site = findings->site;
    const char *list = held->value;
    char word[256];

    /* more nodes may register */
    if (site_number(site_config(site, "MaxNodeCount")) > (double)site->tables[CLUSTER_NODES].count)
        return;
    if (limit->type != TRES || limit->is_minimum || strcmp(limit->key, "GrpTRESMins") == 0)
        return;
    while (site_word(&list, word, sizeof word)) {
        char *equal = strchr(word, '=');
        double have, want;

        if (!equal)
            continue;
        *equal = '\0';
        have = cluster_has(site, word, limit->is_per_node);
        want = site_tres(held->value, word);
        if (have > 0 && want > have)
            policy_add(findings, POLICY_LIMIT_ABOVE_CLUSTER, NULL, held->object.text,
                       "%s=%s, but %s %.0f%s of %s", limit->key, held->value,
                       limit->is_per_node ? "no node has more than" : "the cluster has", have,
                       strcasecmp(word, "mem") == 0 ? " MB" : "", word);
    }
}

/* Compares a Grp limit, or a job's TRES, with the Grp limit of each account above. */
static void check_parent(struct policy_findings *findings, const struct held *held)
{
    const struct limit *limit = held->limit;
    const struct site *site = findings->site;
    bool is_job = strcmp(limit->key, "MaxTRES") == 0;
    const char *key = is_job ? "GrpTRES" : limit->key;
    char word[256];
    const struct site_record *parent = held->record;

    if (held->what != CLUSTER_ASSOCIATIONS || !(limit->is_group || is_job))
        return;
    while ((parent = site_parent(site, parent))) {
        const char *above = site_value(parent, key), *list = held->value;
        bool is_above = limit->type == NUMBER && site_number(held->value) > site_number(above);

        while (limit->type == TRES && site_word(&list, word, sizeof word)) {
            word[strcspn(word, "=")] = '\0';
            is_above = is_above || site_tres(held->value, word) > site_tres(above, word);
        }
        if (is_above) {
            policy_add(findings, POLICY_CHILD_ABOVE_PARENT, NULL, held->object.text,
                       "%s=%s, and %s has %s=%s", limit->key, held->value,
                       policy_object(held->what, parent).text, key, above);
            return;
        }
    }
}

static void check_zero(struct policy_findings *findings, const struct held *held)
{
    const struct limit *limit = held->limit;

    if (limit->type == NUMBER && site_number(held->value) == 0)
        policy_add(findings, POLICY_NO_JOBS_ALLOWED, NULL, held->object.text, "%s=0: %s",
                   limit->key,
                   strstr(limit->key, "Submit") ? "its jobs are refused"
                                                : "its jobs are accepted and wait");
}

/* Whether the job's QOS has a tighter limit than the partition's. */
static bool is_tighter(const struct limit *limit, const char *job, const char *partition)
{
    const char *all = job;
    char word[256];

    if (limit->type == NUMBER)
        return site_number(job) < site_number(partition);
    if (limit->type == TIME)
        return site_seconds(job) < site_seconds(partition);
    while (site_word(&job, word, sizeof word)) {
        word[strcspn(word, "=")] = '\0';
        if (site_tres(all, word) < site_tres(partition, word))
            return true;
    }
    return false;
}

static void check_shadow(struct policy_findings *findings, const struct site_record *partition,
                         const struct site_record *qos, const struct site_record *own)
{
    for (size_t k = 0; k < LIMITS; k++) {
        const char *job = site_value(qos, limits[k].key), *first = site_value(own, limits[k].key);

        if (limits[k].is_group || limits[k].is_minimum || !*job || !*first ||
            !is_tighter(&limits[k], job, first))
            continue;
        policy_add(findings, POLICY_LIMIT_SHADOWED, NULL, policy_object(CLUSTER_QOS, qos).text,
                   "%s=%s; in partition %s the %s=%s of its QOS %s holds", limits[k].key, job,
                   site_value(partition, "PartitionName"), limits[k].key, first,
                   site_value(own, "Name"));
    }
}

static void check_partition_qos(struct policy_findings *findings)
{
    const struct site *site = findings->site;
    const struct site_record *partition = NULL;

    while (site_next(site, CLUSTER_PARTITIONS, &partition)) {
        const char *name = site_value(partition, "QoS");
        const struct site_record *own = *name ? site_find(site, CLUSTER_QOS, "Name", name) : NULL;

        for (const struct site_record *qos = NULL; own && site_next(site, CLUSTER_QOS, &qos);)
            if (qos != own && !site_list_has(site_value(qos, "Flags"), "OverPartQOS") &&
                policy_lets_in(partition, "AllowQos", "DenyQos", site_value(qos, "Name")))
                check_shadow(findings, partition, qos, own);
    }
}

/* Compares the QOS with the limits of partitions. */
static void check_walls(struct policy_findings *findings)
{
    const struct site *site = findings->site;
    const char *enforce = site_config(site, "EnforcePartLimits");
    const struct site_record *qos = NULL;

    while (site_next(site, CLUSTER_QOS, &qos)) {
        const struct site_record *partition = NULL;
        const char *flags = site_value(qos, "Flags"), *name = site_value(qos, "Name");
        double wall_s = site_seconds(site_value(qos, "MaxWall")), longest_s = 0;
        bool is_over = site_list_has(flags, "PartitionTimeLimit");
        struct text_line object = policy_object(CLUSTER_QOS, qos);

        while (site_next(site, CLUSTER_PARTITIONS, &partition))
            if (policy_lets_in(partition, "AllowQos", "DenyQos", name))
                longest_s = fmax(longest_s, site_seconds(site_value(partition, "MaxTime")));
        if (wall_s > longest_s && longest_s > 0 && !is_over)
            policy_add(findings, POLICY_WALL_ABOVE_PARTITIONS, NULL, object.text,
                       "MaxWall=%s, but no partition for it has a MaxTime above %.0f minutes",
                       site_value(qos, "MaxWall"), longest_s / 60);
        if (policy_overrides_partitions(qos) && *enforce && strcasecmp(enforce, "NO") != 0)
            policy_add(findings, POLICY_OVERRIDE_REFUSED, "EnforcePartLimits", object.text,
                       "Flags=%s, but EnforcePartLimits is %s", flags, enforce);
    }
}

static void check_tracked(struct policy_findings *findings)
{
    const char *tracked = site_config(findings->site, "AccountingStorageTRES"), *list = tracked;
    char word[256];

    while (site_word(&list, word, sizeof word)) {
        char *colon = strchr(word, ':');

        if (!colon || strncmp(word, "gres/", 5) != 0)
            continue;
        *colon = '\0';
        if (!site_list_has(tracked, word)) {
            policy_add(findings, POLICY_TYPED_GRES_ALONE, "AccountingStorageTRES", "slurm.conf",
                       "AccountingStorageTRES has %s:%s but not %s", word, colon + 1, word);
            return;
        }
    }
}

void policy_check_limits(struct policy_findings *findings)
{
    static const enum cluster_text tables[] = {CLUSTER_QOS, CLUSTER_ASSOCIATIONS};
    const struct site *site = findings->site;

    if (!site->has_accounting)
        return;
    for (size_t t = 0; t < 2; t++)
        for (const struct site_record *record = NULL; site_next(site, tables[t], &record);)
            for (size_t k = 0; k < LIMITS; k++) {
                const struct held held = {tables[t], record, &limits[k],
                                          site_value(record, limits[k].key),
                                          policy_object(tables[t], record)};

                if (!*held.value || (tables[t] == CLUSTER_ASSOCIATIONS &&
                                     policy_is_inherited(site, record, limits[k].key)))
                    continue;
                check_enforced(findings, &held);
                check_names(findings, &held);
                check_size(findings, &held);
                check_parent(findings, &held);
                check_zero(findings, &held);
            }
    check_partition_qos(findings);
    check_walls(findings);
    check_tracked(findings);
}
