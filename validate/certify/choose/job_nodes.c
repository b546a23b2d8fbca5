/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/choose/job_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "lib/constants/certify_constants.h"
#include "validate/certify/report/run_records.h"
#include "validate/policy/plan.h"

static size_t held_nodes(const struct certify *certify, struct hostlist *names)
{
    hostlist_clear(names);
    for (size_t i = 0; i < certify->count; i++)
        if (certify_is_available(&certify->node_runs[i]))
            hostlist_append(names, certify->node_runs[i].name);
    return names->count;
}

static void elsewhere_note(const struct cluster_partition *partition, const struct hostlist *nodes,
                           void *context)
{
    struct certify *certify = context;
    char text[200];

    if (partition)
        text_put(text, sizeof text, "in another partition: muster certify -p %.60s",
                 partition->name);
    else
        text_put(text, sizeof text, "in no partition that is up");
    certify_all(certify, nodes, STAGE_REACH, VERDICT_UNKNOWN, FAULT_NONE, "slurm.state", text);
    if (partition && certify->partition)
        certify_note(certify,
                     "not tested: %s: a run uses one partition, here %s; next: muster certify -p "
                     "%s, or --campaign NAME for all partitions",
                     hostlist_text(nodes).text, certify->partition, partition->name);
    else
        certify_note(certify, "not tested: %s: %s", hostlist_text(nodes).text, text);
}

/* Keeps no more nodes than the partition allows in a job (MaxNodes), and only as many partners as
 * are needed; the others are left for another run. */
static void max_nodes_apply(struct certify *certify, const struct cluster_partition *partition,
                            struct hostlist *names)
{
    size_t most = partition ? partition->max_nodes : 0, partners = 0, left[2];
    struct hostlist kept = {0}, beyond = {0};
    char text[120];

    if (most == 0 || names->count <= most)
        return;
    for (size_t i = 0; i < names->count; i++)
        partners += certify_node_run(certify, names->names[i])->is_partner;
    partners = partners < CERTIFY_PARTNERS ? partners : CERTIFY_PARTNERS;
    left[false] = most > partners ? most - partners : 1;
    left[true] = most - left[false];
    for (size_t i = 0; i < names->count; i++) {
        size_t *room = &left[certify_node_run(certify, names->names[i])->is_partner];

        hostlist_append(*room > 0 ? &kept : &beyond, names->names[i]);
        *room -= *room > 0;
    }
    text_put(text, sizeof text, "left for another run: MaxNodes=%zu of partition %.60s", most,
             partition->name);
    certify_all(certify, &beyond, STAGE_REACH, VERDICT_UNKNOWN, FAULT_NONE, "slurm.state", text);
    certify_note(certify, "%s: %s; next: muster certify --campaign NAME, which has several runs",
                 hostlist_text(&beyond).text, text);
    hostlist_clear(names);
    hostlist_clear(&beyond);
    *names = kept;
}

/* Fills names with the nodes that may be allocated; each other node gets a verdict that says why
 * not. Returns their number. */
static size_t candidates(struct certify *certify, struct hostlist *names)
{
    const struct cluster_partition *partition;
    struct hostlist testable = {0}, elsewhere = {0};

    hostlist_clear(names);
    for (size_t i = 0; i < certify->count; i++)
        if (role_is_testable(certify->node_runs[i].plan.role) &&
            outcome_is_good(&certify->node_runs[i].outcome))
            hostlist_append(&testable, certify->node_runs[i].name);
    partition = plan_partition(&certify->cluster, certify->options.partition,
                               (const char *const *)testable.names, testable.count);
    free(certify->partition);
    certify->partition = partition ? strdup(partition->name) : NULL;
    if (hostlist_split(&testable, partition ? &partition->nodes : &(struct hostlist){0}, names,
                       &elsewhere) != 0)
        certify_note(certify, "out of memory for the nodes of the run's partition");
    if (plan_report_partitions(&certify->cluster, &elsewhere, elsewhere_note, certify) != 0)
        certify_note(certify, "out of memory for the nodes of other partitions");
    max_nodes_apply(certify, partition, names);
    hostlist_clear(&testable);
    hostlist_clear(&elsewhere);
    return names->count;
}

size_t certify_job_nodes(struct certify *certify, struct hostlist *names)
{
    return certify->job == JOB_CHECK     ? candidates(certify, names)
           : certify->job == JOB_BATTERY ? certify_list_good(certify, names)
                                         : held_nodes(certify, names);
}
