/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/scheduling/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Checks the weights of priority/multifactor, which decide which job goes first, and whether their
 * factors differ. The factors are between 0 and 1 (priority_multifactor.html): that of a QOS is its
 * priority over the highest, that of a partition its PriorityJobFactor over the highest, and that
 * of shares 2^(-usage/share). */

struct range {
    double least, most;
    const struct site_record *least_of, *most_of;
};

static struct range range_of(const struct site *site, enum cluster_text what, const char *key)
{
    struct range range = {INFINITY, -INFINITY, NULL, NULL};
    const struct site_record *one = NULL;

    while (site_next(site, what, &one)) {
        double value = site_number(site_value(one, key));

        value = isnan(value) ? 0 : value;
        if (value < range.least) {
            range.least = value;
            range.least_of = one;
        }
        if (value > range.most) {
            range.most = value;
            range.most_of = one;
        }
    }
    return range;
}

/* Returns an association whose shares differ from another association's under the same account;
 * NULL: none. */
static const struct site_record *unequal_shares(struct policy_findings *findings)
{
    const struct site *site = findings->site;
    const struct site_table *table = &site->tables[CLUSTER_ASSOCIATIONS];
    const struct site_record *one = NULL, **firsts = calloc(table->count + 1, sizeof *firsts);

    findings->is_out_of_memory |= !firsts;
    while (firsts && site_next(site, CLUSTER_ASSOCIATIONS, &one)) {
        const struct site_record *account = site_parent(site, one), **first;

        if (!account || strcmp(site_value(one, "User"), "root") == 0)
            continue;
        first = &firsts[account - table->records];
        *first = *first ? *first : one;
        if (strcmp(site_value(one, "Fairshare"), site_value(*first, "Fairshare")) != 0)
            break;
    }
    free(firsts);
    return one;
}

static double weight(const struct site *site, const char *key)
{
    double value = site_number(site_config(site, key));

    return isnan(value) ? 0 : value;
}

static void check_shares(struct policy_findings *findings, double shares, double qos_weight,
                         const struct range *qos)
{
    const struct site *site = findings->site;
    const struct site_record *unequal = unequal_shares(findings);
    double span = qos->most > 0 ? (qos->most - qos->least) / qos->most : 0;

    if (shares == 0 && unequal)
        policy_add(findings, POLICY_SHARES_WEIGHT_ZERO, "PriorityWeightFairshare", "slurm.conf",
                   "PriorityWeightFairshare is 0, but %s, for example, has fairshare=%s",
                   policy_object(CLUSTER_ASSOCIATIONS, unequal).text,
                   site_value(unequal, "Fairshare"));
    if (shares > 0 && qos_weight > 0 && span > 0 && shares > qos_weight * span)
        policy_add(findings, POLICY_SHARES_ABOVE_QOS, "PriorityWeightFairshare", "slurm.conf",
                   "PriorityWeightFairshare is %.0f, but QOS %s and %s differ by only %.0f", shares,
                   site_value(qos->most_of, "Name"), site_value(qos->least_of, "Name"),
                   qos_weight * span);
    if (shares > 0 && site_seconds(site_config(site, "PriorityDecayHalfLife")) == 0 &&
        !*site_config(site, "PriorityUsageResetPeriod"))
        policy_add(findings, POLICY_USAGE_KEPT_FOREVER, "PriorityDecayHalfLife", "slurm.conf",
                   "PriorityDecayHalfLife is 0 and PriorityUsageResetPeriod is NONE");
}

static void check_weights(struct policy_findings *findings)
{
    const struct site *site = findings->site;
    struct range qos = range_of(site, CLUSTER_QOS, "Priority"),
                 partitions = range_of(site, CLUSTER_PARTITIONS, "PriorityJobFactor");
    double qos_weight = weight(site, "PriorityWeightQOS"),
           partition_weight = weight(site, "PriorityWeightPartition"),
           shares = weight(site, "PriorityWeightFairShare");
    bool is_flat = qos_weight + partition_weight + shares + weight(site, "PriorityWeightAge") +
                           weight(site, "PriorityWeightAssoc") +
                           weight(site, "PriorityWeightJobSize") ==
                       0 &&
                   !*site_config(site, "PriorityWeightTRES");

    if (is_flat) {
        if (qos.most > qos.least || partitions.most > partitions.least || unequal_shares(findings))
            policy_add(findings, POLICY_WEIGHTS_ALL_ZERO, "PriorityType", "slurm.conf",
                       "PriorityType is priority/multifactor, but every PriorityWeight is 0");
        return;
    }
    if (partition_weight == 0 && partitions.most > partitions.least)
        policy_add(findings, POLICY_PARTITION_WEIGHT_ZERO, "PriorityWeightPartition", "slurm.conf",
                   "PriorityWeightPartition is 0, but partition %s has PriorityJobFactor=%.0f",
                   site_value(partitions.most_of, "PartitionName"), partitions.most);
    if (partition_weight > 0 && !(partitions.most > partitions.least))
        policy_add(
            findings, POLICY_PARTITION_WEIGHT_IDLE, "PriorityWeightPartition", "slurm.conf",
            "PriorityWeightPartition is %.0f, but PriorityJobFactor of each partition is %.0f",
            partition_weight, partitions.most);
    if (!site->has_accounting)
        return;
    if (qos_weight == 0 && qos.most > qos.least)
        policy_add(findings, POLICY_QOS_WEIGHT_ZERO, "PriorityWeightQOS", "slurm.conf",
                   "PriorityWeightQOS is 0, but QOS %s has priority=%.0f",
                   site_value(qos.most_of, "Name"), qos.most);
    if (qos_weight > 0 && !(qos.most > qos.least))
        policy_add(findings, POLICY_QOS_WEIGHT_IDLE, "PriorityWeightQOS", "slurm.conf",
                   "PriorityWeightQOS is %.0f, but the priority of each QOS is %.0f", qos_weight,
                   fmax(qos.most, 0));
    check_shares(findings, shares, qos_weight, &qos);
}

void policy_check_priority(struct policy_findings *findings)
{
    const struct site *site = findings->site;
    const char *type = site_config(site, "PriorityType");
    static const char *const keys[] = {"PriorityWeightQOS", "PriorityWeightFairShare",
                                       "PriorityWeightAssoc"};

    if (!strcasestr(type, "multifactor")) {
        static const char *const all[] = {"PriorityWeightQOS",       "PriorityWeightFairShare",
                                          "PriorityWeightPartition", "PriorityWeightAge",
                                          "PriorityWeightJobSize",   "PriorityWeightAssoc"};

        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            if (weight(site, all[i]) > 0) {
                policy_add(findings, POLICY_WEIGHTS_WITHOUT_PLUGIN, "PriorityType", "slurm.conf",
                           "PriorityType is %s, but %s is %.0f", type, all[i],
                           weight(site, all[i]));
                return;
            }
        return;
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (weight(site, keys[i]) > 0 &&
            !strcasestr(site_config(site, "AccountingStorageType"), "slurmdbd")) {
            policy_add(findings, POLICY_WEIGHTS_WITHOUT_ACCOUNTING, keys[i], "slurm.conf",
                       "%s is %.0f, but AccountingStorageType is %s", keys[i],
                       weight(site, keys[i]), site_config(site, "AccountingStorageType"));
            break;
        }
    check_weights(findings);
}
