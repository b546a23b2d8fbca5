/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/scheduling/check.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Who may use what: accounts, QOS, and the partitions that let them in. */

static bool is_user(const struct site_record *association)
{
    const char *user = site_value(association, "User");

    return *user && strcmp(user, "root") != 0;
}

static bool is_used(const struct site *site, const char *qos)
{
    const struct site_record *one = NULL;

    while (site_next(site, CLUSTER_ASSOCIATIONS, &one))
        if (site_list_has(site_value(one, "QOS"), qos))
            return true;
    return site_find(site, CLUSTER_PARTITIONS, "QoS", qos);
}

/* Returns a user who may not use all QOS; NULL: none. */
static const struct site_record *restricted_user(const struct site *site)
{
    const struct site_record *one = NULL;

    while (site_next(site, CLUSTER_ASSOCIATIONS, &one))
        for (const struct site_record *qos = NULL; site_next(site, CLUSTER_QOS, &qos);)
            if (is_user(one) && !site_list_has(site_value(one, "QOS"), site_value(qos, "Name")))
                return one;
    return NULL;
}

static void check_enforcement(struct policy_findings *findings)
{
    const struct site *site = findings->site;
    const char *enforce = site_config(site, "AccountingStorageEnforce");
    const struct site_record *restricted = restricted_user(site), *one = NULL;
    size_t users = 0;

    while (site_next(site, CLUSTER_ASSOCIATIONS, &one))
        users += is_user(one);
    if (policy_enforces(site, "associations") && users == 0)
        policy_add(findings, POLICY_NO_ACCOUNTS, "AccountingStorageEnforce", "slurm.conf",
                   "AccountingStorageEnforce is %s, but root is the only user of cluster %s",
                   enforce, site_config(site, "ClusterName"));
    if (!policy_enforces(site, "qos") && restricted)
        policy_add(findings, POLICY_QOS_NOT_ENFORCED, "AccountingStorageEnforce", "slurm.conf",
                   "AccountingStorageEnforce is %s, but %s, for example, has qos=%s",
                   *enforce ? enforce : "none",
                   policy_object(CLUSTER_ASSOCIATIONS, restricted).text,
                   site_value(restricted, "QOS"));
    else if (!policy_enforces(site, "associations") && users > 0 &&
             !policy_has(findings, POLICY_LIMITS_NOT_ENFORCED))
        policy_add(findings, POLICY_ASSOCIATIONS_NOT_ENFORCED, "AccountingStorageEnforce",
                   "slurm.conf", "AccountingStorageEnforce is none, and %zu users have accounts",
                   users);
}

static void check_qos(struct policy_findings *findings)
{
    const struct site *site = findings->site;
    const struct site_record *qos = NULL, *one = NULL;

    while (policy_enforces(site, "qos") && site_next(site, CLUSTER_QOS, &qos)) {
        const char *name = site_value(qos, "Name");

        /* Slurm makes this one itself */
        if (strcmp(name, "normal") != 0 && !is_used(site, name))
            policy_add(findings, POLICY_QOS_UNUSED, NULL, policy_object(CLUSTER_QOS, qos).text,
                       "no account, user or partition of this cluster has it");
    }
    while (site_next(site, CLUSTER_ASSOCIATIONS, &one)) {
        const char *own = site_value(one, "DefaultQOS"), *list = site_value(one, "QOS");

        if (policy_enforces(site, "qos") && *own && *list && !site_list_has(list, own) &&
            !(policy_is_inherited(site, one, "DefaultQOS") &&
              policy_is_inherited(site, one, "QOS")))
            policy_add(findings, POLICY_DEFAULT_QOS_REFUSED, NULL,
                       policy_object(CLUSTER_ASSOCIATIONS, one).text, "DefaultQOS=%s, but qos=%s",
                       own, list);
    }
}

/* Reports the words of a partition's list that name nothing. */
static void check_names(struct policy_findings *findings, const struct site_record *partition,
                        const char *key, enum policy_kind kind)
{
    const struct site *site = findings->site;
    const char *list = site_value(partition, key);
    char word[256];

    while (strcasecmp(list, "ALL") != 0 && site_word(&list, word, sizeof word)) {
        bool is_known = kind == POLICY_ALLOW_GROUP_UNKNOWN
                            ? !site->knows || site->knows(SITE_GROUP, word, site->context) != 0
                        : kind == POLICY_ALLOW_QOS_UNKNOWN
                            ? site_find(site, CLUSTER_QOS, "Name", word) != NULL
                            : site_find(site, CLUSTER_ASSOCIATIONS, "Account", word) != NULL;

        if (!is_known)
            policy_add(findings, kind, "PartitionName",
                       policy_object(CLUSTER_PARTITIONS, partition).text,
                       "%s=%s, but %s does not exist", key, site_value(partition, key), word);
    }
}

static void check_both(struct policy_findings *findings, const struct site_record *partition,
                       const char *allow, const char *deny)
{
    char allowed[512], denied[512];

    policy_partition_value(findings->site, partition, allow, allowed, sizeof allowed);
    policy_partition_value(findings->site, partition, deny, denied, sizeof denied);
    if (*allowed && strcasecmp(allowed, "ALL") != 0 && *denied)
        policy_add(findings, POLICY_ALLOW_AND_DENY, "PartitionName",
                   policy_object(CLUSTER_PARTITIONS, partition).text, "%s=%s and %s=%s", allow,
                   allowed, deny, denied);
}

static bool is_for_somebody(const struct site *site, const struct site_record *partition)
{
    const struct site_record *one = NULL;
    size_t users = 0;

    while (site_next(site, CLUSTER_ASSOCIATIONS, &one)) {
        const char *only = site_value(one, "Partition"), *list = site_value(one, "QOS");
        char qos[256];

        if (!is_user(one))
            continue;
        users++;
        if ((*only && strcmp(only, site_value(partition, "PartitionName")) != 0) ||
            !policy_lets_in(partition, "AllowAccounts", "DenyAccounts", site_value(one, "Account")))
            continue;
        if (!policy_enforces(site, "qos"))
            return true;
        while (site_word(&list, qos, sizeof qos))
            if (policy_lets_in(partition, "AllowQos", "DenyQos", qos))
                return true;
    }
    return users == 0; /* a finding of its own */
}

static void check_partition(struct policy_findings *findings, const struct site_record *partition)
{
    const struct site *site = findings->site;
    size_t before = findings->count;
    struct text_line object = policy_object(CLUSTER_PARTITIONS, partition);
    char qos[256];

    check_names(findings, partition, "AllowGroups", POLICY_ALLOW_GROUP_UNKNOWN);
    check_both(findings, partition, "AllowAccounts", "DenyAccounts");
    check_both(findings, partition, "AllowQos", "DenyQos");
    if (!site->has_accounting)
        return;
    check_names(findings, partition, "AllowQos", POLICY_ALLOW_QOS_UNKNOWN);
    check_names(findings, partition, "DenyQos", POLICY_ALLOW_QOS_UNKNOWN);
    check_names(findings, partition, "AllowAccounts", POLICY_ALLOW_ACCOUNT_UNKNOWN);
    check_names(findings, partition, "DenyAccounts", POLICY_ALLOW_ACCOUNT_UNKNOWN);
    policy_partition_value(site, partition, "QOS", qos, sizeof qos);
    if (*qos && !site_find(site, CLUSTER_QOS, "Name", qos))
        policy_add(findings, POLICY_PARTITION_QOS_UNKNOWN, "PartitionName", object.text,
                   "QOS=%s, but this QOS does not exist", qos);
    if (findings->count == before && policy_is_up(partition) &&
        strcasecmp(site_value(partition, "RootOnly"), "YES") != 0 &&
        policy_enforces(site, "associations") && !is_for_somebody(site, partition))
        policy_add(findings, POLICY_PARTITION_FOR_NOBODY, "PartitionName", object.text,
                   "AllowAccounts=%s AllowQos=%s, but no user has both",
                   site_value(partition, "AllowAccounts"), site_value(partition, "AllowQos"));
}

void policy_check_accounts(struct policy_findings *findings)
{
    const struct site *site = findings->site;
    const struct site_record *partition = NULL;

    if (site->has_accounting) {
        check_enforcement(findings);
        check_qos(findings);
    }
    while (site_next(site, CLUSTER_PARTITIONS, &partition))
        check_partition(findings, partition);
}
