/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/scheduling/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Who is preempted by whom, and whether that can happen: preempt.html. */

struct preemption {
    const struct site *site;
    bool is_qos, is_partition; /* PreemptType */
    const char *mode;          /* PreemptMode of the cluster */
};

/* Whether preempted jobs lose their nodes. */
static bool is_removal(const char *mode)
{
    return site_list_has(mode, "REQUEUE") || site_list_has(mode, "CANCEL");
}

static bool is_off(const char *mode)
{
    return !is_removal(mode) && !site_list_has(mode, "SUSPEND");
}

/* The mode by which jobs of the QOS are preempted. */
static const char *qos_mode(const struct preemption *preemption, const struct site_record *qos)
{
    const char *mode = site_value(qos, "PreemptMode");

    return !*mode || strcasecmp(mode, "cluster") == 0 || strcasecmp(mode, "OFF") == 0
               ? preemption->mode
               : mode;
}

static bool is_preempted(const struct preemption *preemption, const struct site_record *qos)
{
    const struct site_record *other = NULL;

    while (site_next(preemption->site, CLUSTER_QOS, &other))
        if (site_list_has(site_value(other, "Preempt"), site_value(qos, "Name")))
            return true;
    return false;
}

static double tier(const struct site_record *partition)
{
    return site_number(site_value(partition, "PriorityTier"));
}

/* Returns whether a partition with a higher PriorityTier shares nodes with this one. */
static bool is_lower(const struct preemption *preemption, const struct site_record *partition)
{
    const struct site_record *other = NULL;

    while (site_next(preemption->site, CLUSTER_PARTITIONS, &other))
        if (tier(other) > tier(partition) && site_share_nodes(preemption->site, other, partition))
            return true;
    return false;
}

static void check_lists(struct policy_findings *findings, const struct preemption *preemption)
{
    const struct site *site = preemption->site;
    const char *type = site_config(site, "PreemptType");
    const struct site_record *first = NULL, *qos = NULL;
    bool is_within = site_list_has(preemption->mode, "WITHIN"), has_preemptible = false;

    while (site_next(site, CLUSTER_QOS, &qos)) {
        if (!first && *site_value(qos, "Preempt"))
            first = qos;
        is_within = is_within || site_list_has(site_value(qos, "PreemptMode"), "WITHIN");
        has_preemptible = has_preemptible ||
                          (is_preempted(preemption, qos) && !is_off(qos_mode(preemption, qos)));
    }
    if (first && !preemption->is_qos)
        policy_add(findings, POLICY_PREEMPT_LISTS_IDLE, "PreemptType", "slurm.conf",
                   "PreemptType is %s, but QOS %s has preempt=%s", *type ? type : "preempt/none",
                   site_value(first, "Name"), site_value(first, "Preempt"));
    if (!preemption->is_qos || !site->has_accounting)
        return;
    if (!first && !is_within)
        policy_add(findings, POLICY_PREEMPT_NO_LISTS, "PreemptType", "slurm.conf",
                   "PreemptType is preempt/qos, but no QOS has a preempt list");
    else if (first && !has_preemptible && !is_within)
        policy_add(findings, POLICY_PREEMPT_MODE_OFF, "PreemptMode", "slurm.conf",
                   "PreemptMode is %s, and the QOS in preempt=%s of QOS %s have no other",
                   *preemption->mode ? preemption->mode : "OFF", site_value(first, "Preempt"),
                   site_value(first, "Name"));
}

/* Checks whether a QOS preempts one of higher priority. slurmdbd refuses a QOS that preempts
 * itself, directly or through others. */
static void check_order(struct policy_findings *findings, const struct preemption *preemption)
{
    const struct site *site = preemption->site;
    const struct site_record *one = NULL;
    bool is_weighted = site_number(site_config(site, "PriorityWeightQOS")) > 0;

    while (is_weighted && site_next(site, CLUSTER_QOS, &one))
        for (const struct site_record *other = NULL; site_next(site, CLUSTER_QOS, &other);) {
            const char *name = site_value(other, "Name");
            double high = site_number(site_value(one, "Priority")),
                   low = site_number(site_value(other, "Priority"));

            if (site_list_has(site_value(one, "Preempt"), name) && high < low)
                policy_add(
                    findings, POLICY_PREEMPTS_HIGHER, NULL, policy_object(CLUSTER_QOS, one).text,
                    "it preempts %s; its priority is %.0f, that of %s %.0f", name, high, name, low);
        }
}

static void check_tiers(struct policy_findings *findings, const struct preemption *preemption)
{
    const struct site *site = preemption->site;
    const struct site_record *one = NULL;
    bool has_lower = false, is_possible = false;

    while (site_next(site, CLUSTER_PARTITIONS, &one)) {
        const struct site_record *other = one;
        const char *mode = site_value(one, "PreemptMode");

        if (is_lower(preemption, one)) {
            has_lower = true;
            is_possible = is_possible || !is_off(mode);
        }
        while (site_next(site, CLUSTER_PARTITIONS, &other))
            /* if a higher tier is above them, the mode says which of them it preempts */
            if (tier(one) == tier(other) && !is_lower(preemption, one) &&
                !is_lower(preemption, other) &&
                is_off(mode) != is_off(site_value(other, "PreemptMode")) &&
                site_share_nodes(site, one, other))
                policy_add(findings, POLICY_TIERS_EQUAL, "PartitionName",
                           policy_object(CLUSTER_PARTITIONS, one).text,
                           "PreemptMode=%s, partition %s PreemptMode=%s, both PriorityTier=%.0f",
                           *mode ? mode : "OFF", site_value(other, "PartitionName"),
                           site_value(other, "PreemptMode"), tier(one));
    }
    if (has_lower && !is_possible)
        policy_add(findings, POLICY_PREEMPT_MODE_OFF, "PreemptMode", "slurm.conf",
                   "PreemptMode is OFF for every partition below a higher tier");
    else if (!is_possible && !policy_has(findings, POLICY_TIERS_EQUAL))
        policy_add(findings, POLICY_TIERS_NEVER_PREEMPT, "PreemptType", "slurm.conf",
                   "no two partitions share nodes and differ in PriorityTier");
}

/* Checks what the mode needs by which jobs of the object are preempted. */
static void check_mode(struct policy_findings *findings, const struct preemption *preemption,
                       const char *object, const char *mode)
{
    const struct site *site = preemption->site;
    const struct site_record *node = NULL;
    bool is_suspend = site_list_has(mode, "SUSPEND");

    if (site_list_has(mode, "REQUEUE") && strcmp(site_config(site, "JobRequeue"), "0") == 0 &&
        !policy_has(findings, POLICY_REQUEUE_OFF))
        policy_add(findings, POLICY_REQUEUE_OFF, "JobRequeue", object,
                   "PreemptMode=%s, but JobRequeue is 0", mode);
    if (is_suspend && !site_list_has(preemption->mode, "GANG") &&
        !policy_has(findings, POLICY_SUSPEND_WITHOUT_GANG))
        policy_add(findings, POLICY_SUSPEND_WITHOUT_GANG, "PreemptMode", object,
                   "PreemptMode=%s, but the cluster's is %s", mode,
                   *preemption->mode ? preemption->mode : "OFF");
    while (is_suspend && !policy_has(findings, POLICY_SUSPEND_KEEPS_GRES) &&
           site_next(site, CLUSTER_NODES, &node))
        if (*site_value(node, "Gres"))
            policy_add(findings, POLICY_SUSPEND_KEEPS_GRES, "PreemptMode", object,
                       "PreemptMode=%s, but node %s, for example, has Gres=%s", mode,
                       site_value(node, "NodeName"), site_value(node, "Gres"));
}

/* Returns the longest time that a job of the QOS may run, by the QOS and by the partitions that
 * admit it. */
static double longest_s(const struct preemption *preemption, const struct site_record *qos)
{
    double wall_s = site_seconds(site_value(qos, "MaxWall")), most_s = 0;
    const struct site_record *partition = NULL;

    while (site_next(preemption->site, CLUSTER_PARTITIONS, &partition))
        if (policy_lets_in(partition, "AllowQos", "DenyQos", site_value(qos, "Name")))
            most_s = fmax(most_s, site_seconds(site_value(partition, "MaxTime")));
    return isnan(wall_s) ? most_s : fmin(wall_s, most_s);
}

/* Checks GraceTime and PreemptExemptTime, which are for jobs that are requeued or canceled. */
static void check_times(struct policy_findings *findings, const char *object, const char *key,
                        const char *mode, const char *grace, double grace_s, const char *exempt,
                        double most_s)
{
    double exempt_s = site_seconds(exempt);

    if (!is_removal(mode))
        return;
    if (most_s > 0 && grace_s >= most_s)
        policy_add(findings, POLICY_GRACE_OUTLASTS_JOBS, key, object,
                   "GraceTime=%s, but its jobs run at most %.0f minutes", grace, most_s / 60);
    if (most_s > 0 && exempt_s >= most_s)
        policy_add(findings, POLICY_EXEMPT_OUTLASTS_JOBS, "PreemptExemptTime", object,
                   "PreemptExemptTime=%s, but its jobs run at most %.0f minutes", exempt,
                   most_s / 60);
}

static void check_qos(struct policy_findings *findings, const struct preemption *preemption)
{
    const char *exempt = site_config(preemption->site, "PreemptExemptTime");
    const struct site_record *qos = NULL;

    while (site_next(preemption->site, CLUSTER_QOS, &qos)) {
        const char *grace = site_value(qos, "GraceTime"), *mode = qos_mode(preemption, qos),
                   *own = site_value(qos, "PreemptExemptTime");
        struct text_line object = policy_object(CLUSTER_QOS, qos);

        if (!is_preempted(preemption, qos))
            continue;
        check_mode(findings, preemption, object.text, mode);
        check_times(findings, object.text, NULL, mode, grace, site_seconds(grace),
                    *own ? own : exempt, longest_s(preemption, qos));
    }
}

static void check_partitions(struct policy_findings *findings, const struct preemption *preemption)
{
    const struct site_record *partition = NULL;

    while (site_next(preemption->site, CLUSTER_PARTITIONS, &partition)) {
        const char *own = site_value(partition, "PreemptMode"),
                   *mode = preemption->is_partition ? own : preemption->mode,
                   *share = site_value(partition, "OverSubscribe"),
                   *grace = site_value(partition, "GraceTime");
        double ways = strncasecmp(share, "FORCE", 5) == 0
                          ? share[5] == ':' ? site_number(share + 6) : 4 /* Slurm's default */
                          : 0;
        struct text_line object = policy_object(CLUSTER_PARTITIONS, partition);

        if (ways > 1 && is_removal(mode))
            policy_add(findings, POLICY_FORCE_SHARES_FIRST, "PartitionName", object.text,
                       "OverSubscribe=%s, and jobs are preempted by %s", share, mode);
        if (site_list_has(mode, "SUSPEND") && strcasecmp(share, "NO") == 0 &&
            (preemption->is_qos || is_lower(preemption, partition)))
            policy_add(findings, POLICY_SUSPEND_WITHOUT_SHARING, "PartitionName", object.text,
                       "OverSubscribe=NO, and jobs are preempted by %s", mode);
        if (preemption->is_qos && *own && strcasecmp(own, preemption->mode) != 0)
            policy_add(findings, POLICY_PARTITION_MODE_IDLE, "PartitionName", object.text,
                       "PreemptMode=%s; with PreemptType=preempt/qos %s holds", own,
                       preemption->mode);
        if (preemption->is_partition && is_lower(preemption, partition)) {
            check_mode(findings, preemption, object.text, own);
            check_times(findings, object.text, "PartitionName", own, grace, site_number(grace),
                        site_config(preemption->site, "PreemptExemptTime"),
                        site_seconds(site_value(partition, "MaxTime")));
        }
    }
}

void policy_check_preemption(struct policy_findings *findings)
{
    const struct site *site = findings->site;
    const char *type = site_config(site, "PreemptType");
    struct preemption preemption = {
        .site = site,
        .is_qos = strcasestr(type, "qos") != NULL,
        .is_partition = strcasestr(type, "partition_prio") != NULL,
        .mode = site_config(site, "PreemptMode"),
    };

    check_lists(findings, &preemption);
    if (preemption.is_qos) {
        check_order(findings, &preemption);
        check_qos(findings, &preemption);
    }
    if (preemption.is_partition)
        check_tiers(findings, &preemption);
    if (preemption.is_qos || preemption.is_partition)
        check_partitions(findings, &preemption);
}
