/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/scheduling/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/compare.h"
#include "lib/base/grow.h"
#include "lib/base/text.h"

const struct policy_kind_row policy_kinds[POLICY_KINDS] = {
#define KIND(id, code, verdict, what, why, source, cure)                                           \
    [POLICY_##id] = {code, VERDICT_##verdict, what, why, source, cure},
    POLICY_KIND_LIST(KIND)
#undef KIND
};

void policy_add(struct policy_findings *findings, enum policy_kind kind, const char *key,
                const char *object, const char *format, ...)
{
    static const char partition[] = "partition ";
    const struct slurm_line *line = NULL;
    struct policy_finding *finding;
    char text[sizeof finding->found];

    if (!GROW(findings->items, findings->count)) {
        findings->is_out_of_memory = true;
        return;
    }
    finding = &findings->items[findings->count++];
    *finding = (struct policy_finding){.kind = kind, .verdict = policy_kinds[kind].verdict};
    snprintf(finding->object, sizeof finding->object, "%s", object);
    TEXT_FORMAT(text, sizeof text, format);
    text_put(finding->found, sizeof finding->found, "%s", text);
    if (strncmp(object, partition, sizeof partition - 1) == 0)
        line = site_line(findings->site, key, object + sizeof partition - 1);
    else if (key)
        line = site_line(findings->site, key, NULL);
    if (line)
        snprintf(finding->where, sizeof finding->where, "%s:%d", line->file, line->number);
}

bool policy_has(const struct policy_findings *findings, enum policy_kind kind)
{
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].kind == kind)
            return true;
    return false;
}

void policy_findings_clear(struct policy_findings *findings)
{
    free(findings->items);
    *findings = (struct policy_findings){0};
}

static int by_kind(const void *a, const void *b)
{
    const struct policy_finding *one = a, *other = b;

    return COMPARE(one->kind, other->kind) ?: strcmp(one->object, other->object);
}

int policy_check(const struct site *site, struct policy_findings *findings)
{
    *findings = (struct policy_findings){.site = site};
    policy_check_limits(findings);
    policy_check_accounts(findings);
    policy_check_priority(findings);
    policy_check_preemption(findings);
    policy_check_partitions(findings);
    policy_check_scheduler(findings);
    policy_check_reservations(findings);
    if (findings->count > 0)
        qsort(findings->items, findings->count, sizeof *findings->items, by_kind);
    return findings->is_out_of_memory ? -1 : 0;
}

struct text_line policy_object(enum cluster_text what, const struct site_record *record)
{
    if (what == CLUSTER_PARTITIONS)
        return text_line("partition %s", site_value(record, "PartitionName"));
    if (what == CLUSTER_QOS)
        return text_line("QOS %s", site_value(record, "Name"));
    if (what == CLUSTER_RESERVATIONS)
        return text_line("reservation %s", site_value(record, "ReservationName"));
    if (!*site_value(record, "User"))
        return text_line("account %s", site_value(record, "Account"));
    return text_line("user %s of %s", site_value(record, "User"), site_value(record, "Account"));
}

bool policy_enforces(const struct site *site, const char *what)
{
    const char *list = site_config(site, "AccountingStorageEnforce");

    if (site_list_has(list, what) || site_list_has(list, "all"))
        return true;
    if (strcmp(what, "associations") == 0)
        return *list && strcmp(list, "none") != 0;
    return strcmp(what, "limits") == 0 && site_list_has(list, "safe");
}

bool policy_is_inherited(const struct site *site, const struct site_record *association,
                         const char *key)
{
    const struct site_record *parent = site_parent(site, association);

    return parent && strcmp(site_value(parent, key), site_value(association, key)) == 0;
}

bool policy_lets_in(const struct site_record *partition, const char *allow, const char *deny,
                    const char *name)
{
    const char *allowed = site_value(partition, allow);

    if (*allowed && strcasecmp(allowed, "ALL") != 0)
        return site_list_has(allowed, name);
    return !site_list_has(site_value(partition, deny), name);
}

bool policy_overrides_partitions(const struct site_record *qos)
{
    const char *flags = site_value(qos, "Flags");

    return site_list_has(flags, "PartitionTimeLimit") ||
           site_list_has(flags, "PartitionMaxNodes") || site_list_has(flags, "PartitionMinNodes");
}

bool policy_is_up(const struct site_record *partition)
{
    return strcasecmp(site_value(partition, "State"), "UP") == 0;
}

void policy_partition_value(const struct site *site, const struct site_record *partition,
                            const char *key, char *value, size_t size)
{
    const struct slurm_line *line = site_line(site, key, site_value(partition, "PartitionName"));

    if (!line || !slurm_line_value(line, key, value, size))
        snprintf(value, size, "%s", site_value(partition, key));
}
