/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/scheduling/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/hostlist.h"

/* Partitions by themselves: nodes, times, sizes, memory. */

static bool takes_jobs(const struct site_record *node)
{
    static const char *const away[] = {"DOWN", "DRAIN", "FAIL", "FUTURE", "INVAL"};

    /* the words of "IDLE+CLOUD+POWERED_DOWN": power saving takes no node away */
    for (const char *word = site_value(node, "State"); *word; word += *word == '+') {
        for (size_t i = 0; i < sizeof away / sizeof *away; i++)
            if (strncasecmp(word, away[i], strlen(away[i])) == 0)
                return false;
        word += strcspn(word, "+");
    }
    return true;
}

static void check_nodes(struct policy_findings *findings, const struct site_record *partition,
                        const char *object)
{
    const struct site_record *node = NULL;
    size_t members = 0, usable = 0;

    while (site_next(findings->site, CLUSTER_NODES, &node))
        if (site_is_member(findings->site, partition, node)) {
            members++;
            usable += takes_jobs(node);
        }
    if (!*site_value(partition, "Nodes"))
        policy_add(findings, POLICY_PARTITION_WITHOUT_NODES, "PartitionName", object,
                   "Nodes is empty");
    else if (members > 0 && usable == 0)
        policy_add(findings, POLICY_PARTITION_NODES_DOWN, "PartitionName", object,
                   "all of %s are down or drained", site_value(partition, "Nodes"));
}

static void check_sizes(struct policy_findings *findings, const struct site_record *partition,
                        const char *object)
{
    const char *least = site_value(partition, "MinNodes"),
               *most = site_value(partition, "MaxNodes");
    double total = site_number(site_value(partition, "TotalNodes"));

    if (site_number(least) > site_number(most) || (total > 0 && site_number(least) > total))
        policy_add(findings, POLICY_MIN_ABOVE_MAX, "PartitionName", object,
                   "MinNodes=%s, MaxNodes=%s, and it has %.0f nodes", least, most, total);
}

/* The partition's value in MB, or else the cluster's; NAN: none. */
static double memory_of(const struct site *site, const struct site_record *partition,
                        const char *key)
{
    double value = site_number(site_value(partition, key));

    return isnan(value) ? site_number(site_config(site, key)) : value;
}

static void check_memory(struct policy_findings *findings, const struct site_record *partition,
                         const char *object)
{
    const struct site *site = findings->site;
    const struct site_record *node = NULL;
    double node_mb = memory_of(site, partition, "DefMemPerNode"),
           cpu_mb = memory_of(site, partition, "DefMemPerCPU"),
           most_mb = memory_of(site, partition, "MaxMemPerNode"), largest_mb = 0;
    bool is_own = !isnan(site_number(site_value(partition, "DefMemPerCPU")));
    double default_mb = is_own || isnan(node_mb) ? cpu_mb : node_mb;

    while (site_next(site, CLUSTER_NODES, &node))
        if (site_is_member(site, partition, node))
            largest_mb = fmax(largest_mb, site_number(site_value(node, "RealMemory")));
    if (largest_mb > 0 && default_mb > largest_mb)
        policy_add(findings, POLICY_MEMORY_ABOVE_NODES, "PartitionName", object,
                   "a job gets %.0f MB by default, but no node has more than %.0f", default_mb,
                   largest_mb);
    else if (default_mb > most_mb)
        policy_add(findings, POLICY_MEMORY_ABOVE_NODES, "PartitionName", object,
                   "a job gets %.0f MB by default, but MaxMemPerNode=%.0f", default_mb, most_mb);
}

static void check_times(struct policy_findings *findings, const struct site_record *partition,
                        const char *object)
{
    const char *most = site_value(partition, "MaxTime");
    char usual[64];
    double usual_s, most_s = site_seconds(most);
    bool is_planned = strcasestr(site_config(findings->site, "SchedulerType"), "backfill");

    policy_partition_value(findings->site, partition, "DefaultTime", usual, sizeof usual);
    usual_s = site_seconds(usual);
    if (usual_s > most_s)
        policy_add(findings, POLICY_DEFAULT_ABOVE_MAX, "PartitionName", object,
                   "DefaultTime=%s, MaxTime=%s", usual, most);
    if (policy_is_up(partition) && is_planned && isinf(most_s) && !isfinite(usual_s))
        policy_add(findings, POLICY_TIME_UNLIMITED, "PartitionName", object,
                   "MaxTime=%s, and no DefaultTime", most);
}

static void check_loose_nodes(struct policy_findings *findings)
{
    const struct site_record *node = NULL;
    struct hostlist loose = {0};

    while (site_next(findings->site, CLUSTER_NODES, &node))
        if (!*site_value(node, "Partitions") &&
            hostlist_append(&loose, site_value(node, "NodeName")) != 0)
            findings->is_out_of_memory = true;
    if (loose.count > 0)
        policy_add(findings, POLICY_NODE_IN_NO_PARTITION, "NodeName", "slurm.conf",
                   "no partition has %s", hostlist_text(&loose).text);
    hostlist_clear(&loose);
}

void policy_check_partitions(struct policy_findings *findings)
{
    const struct site *site = findings->site;
    const struct site_record *partition = NULL, *qos = NULL;
    bool has_limit = false, is_over = false;

    while (site_next(site, CLUSTER_PARTITIONS, &partition)) {
        struct text_line object = policy_object(CLUSTER_PARTITIONS, partition);

        check_nodes(findings, partition, object.text);
        check_sizes(findings, partition, object.text);
        check_memory(findings, partition, object.text);
        check_times(findings, partition, object.text);
        if (strcasecmp(site_value(partition, "Default"), "YES") == 0 && !policy_is_up(partition))
            policy_add(findings, POLICY_DEFAULT_PARTITION_CLOSED, "PartitionName", object.text,
                       "Default=YES, State=%s", site_value(partition, "State"));
        has_limit = has_limit || isfinite(site_seconds(site_value(partition, "MaxTime"))) ||
                    isfinite(site_number(site_value(partition, "MaxNodes")));
    }
    /* a QOS can go over partitions' limits only where these are not enforced */
    while (site_next(site, CLUSTER_QOS, &qos))
        is_over = is_over || policy_overrides_partitions(qos);
    if (has_limit && !is_over && strcasecmp(site_config(site, "EnforcePartLimits"), "NO") == 0)
        policy_add(findings, POLICY_PART_LIMITS_NOT_ENFORCED, "EnforcePartLimits", "slurm.conf",
                   "EnforcePartLimits is NO, but partitions have MaxTime or MaxNodes");
    check_loose_nodes(findings);
}
