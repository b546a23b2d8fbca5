/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/choose/nodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/constants/certify_constants.h"
#include "lib/slurm/slurmconf.h"
#include "validate/certify/choose/group.h"
#include "validate/certify/choose/idle.h"
#include "validate/certify/choose/suspects.h"
#include "validate/certify/choose/turns.h"
#include "validate/certify/report/run_records.h"
#include "validate/history/campaign.h"
#include "validate/slurm/undo/retest.h"

static void node_run_add(struct certify *certify, struct cluster_node *node)
{
    struct node_run *node_run = &certify->node_runs[certify->count++];

    *node_run = (struct node_run){.name = node->name,
                                  .slurm = node,
                                  .gpus = slurm_gres_count(node->gres, "gpu"),
                                  .rail_mbps = NAN};
    node_run->has_accelerator = node_run->gpus > 0;
    plan_node(node, certify->options.is_dry_run, certify->options.nodes != NULL, &node_run->plan);
}

/* Adds the nodes of the list, which are nodes of the cluster. */
static void nodes_add(struct certify *certify, const struct hostlist *names)
{
    for (size_t i = 0; i < names->count; i++)
        node_run_add(certify, cluster_node(&certify->cluster, names->names[i]));
}

/* Builds the index for certify_node_run(). */
static int node_runs_index(struct certify *certify, struct error *err)
{
    const char **names = calloc(certify->count + 1, sizeof *names);
    int rv = -1;

    for (size_t i = 0; names && i < certify->count; i++)
        names[i] = certify->node_runs[i].name;
    if (names)
        rv = name_index_build(names, certify->count, &certify->by_name);
    free(names);
    return rv == 0 ? 0 : error_set(err, "out of memory for %zu nodes", certify->count);
}

/* Adds the nodes of -w, whatever their state. */
static int select_named(struct certify *certify, struct error *err)
{
    struct hostlist names;
    int rv = hostlist_expand(certify->options.nodes, &names, err);
    bool *is_taken;

    if (rv == 0 && cluster_unknown_node(&certify->cluster, &names, err)) {
        certify->is_misused = true;
        rv = -1;
    }
    is_taken = calloc(certify->cluster.node_count + 1, sizeof *is_taken);
    if (rv == 0 && !is_taken)
        rv = error_set(err, "out of memory for %zu nodes", names.count);
    for (size_t i = 0; rv == 0 && i < names.count; i++) {
        struct cluster_node *node = cluster_node(&certify->cluster, names.names[i]);
        bool *taken = &is_taken[node - certify->cluster.nodes];

        if (!*taken)
            node_run_add(certify, node);
        *taken = true;
    }
    free(is_taken);
    hostlist_clear(&names);
    return rv;
}

/* Adds all free nodes that are not named, and that are among `only` unless it is NULL, to the run
 * and to others; those that wait for their first certificate last. */
static void others_add(struct certify *certify, const struct hostlist *named,
                       const struct hostlist *only, struct hostlist *others)
{
    struct name_index is_named = {0}, is_member = {0};
    bool has_memory =
        hostlist_index(named, &is_named) == 0 && (!only || hostlist_index(only, &is_member) == 0);

    for (int is_waiting = 0; is_waiting < 2 && has_memory; is_waiting++)
        for (size_t i = 0; i < certify->cluster.node_count; i++) {
            struct cluster_node *node = &certify->cluster.nodes[i];
            struct plan plan;

            if (node->is_waiting != is_waiting || name_index_has(&is_named, node->name) ||
                (only && !name_index_has(&is_member, node->name)))
                continue;
            plan_node(node, certify->options.is_dry_run, false, &plan);
            if (plan.role != ROLE_TEST || !node->is_responding)
                continue;
            hostlist_append(others, node->name);
            node_run_add(certify, node);
        }
    name_index_clear(&is_named);
    name_index_clear(&is_member);
}

/* Adds free nodes as partners of a node that is tested alone, as links needs two. Returns 0, or -1
 * with err if there are none. */
static int partners_add(struct certify *certify, struct error *err)
{
    const struct cluster_partition *partition;
    struct hostlist named = {0}, others = {0}, partners = {0};
    const char *alone = NULL;
    size_t testable = 0;
    int rv = 0;

    for (size_t i = 0; i < certify->count; i++) {
        hostlist_append(&named, certify->node_runs[i].name);
        if (!role_is_testable(certify->node_runs[i].plan.role))
            continue;
        testable++;
        alone = certify->node_runs[i].name;
    }
    if (testable == 1) {
        partition = plan_partition(&certify->cluster, certify->options.partition, &alone, 1);
        others_add(certify, &named, partition ? &partition->nodes : NULL, &others);
        certify_restrict_to(certify, partition, &others, &named);
        for (size_t i = 0; i < certify->count; i++)
            if (!hostlist_contains(&named, certify->node_runs[i].name))
                hostlist_append(&partners, certify->node_runs[i].name);
        if (partners.count == 0)
            rv = error_set(err,
                           "cannot test %s alone: links needs two nodes, and no other node is "
                           "free; certify again when one is free",
                           alone);
        else
            certify_note(certify, "%s tested as partner%s of %s: links needs two nodes",
                         hostlist_text(&partners).text, text_plural(partners.count), alone);
    }
    hostlist_clear(&named);
    hostlist_clear(&others);
    hostlist_clear(&partners);
    return rv;
}

/* A node that is left alone, and why. */
struct left_node {
    const char *name;
    size_t order;
    char why[sizeof((struct plan *)0)->message];
};

static int compare_left(const void *a, const void *b)
{
    const struct left_node *one = a, *other = b;
    int order = strcmp(one->why, other->why);

    return order != 0 ? order : (one->order > other->order) - (one->order < other->order);
}

/* Notes a line for each reason: on a busy cluster most nodes are in use. */
static void left_note(struct certify *certify, struct left_node *left, size_t count)
{
    if (count > 1)
        qsort(left, count, sizeof *left, compare_left);
    for (size_t i = 0, end; i < count; i = end) {
        struct hostlist names = {0};

        for (end = i; end < count && strcmp(left[end].why, left[i].why) == 0; end++)
            hostlist_append(&names, left[end].name);
        certify_note(certify, "%s: %s", hostlist_text(&names).text, left[i].why);
        hostlist_clear(&names);
    }
}

/* Adds all nodes (without -w), or those of `only` unless it is NULL, and notes those that are left
 * alone. */
static int select_all(struct certify *certify, const struct hostlist *only, struct error *err)
{
    struct name_index wanted = {0};
    struct left_node *left = calloc(certify->cluster.node_count + 1, sizeof *left);
    size_t left_count = 0;

    if (!left || (only && hostlist_index(only, &wanted) != 0)) {
        free(left);
        return error_set(err, "out of memory for %zu nodes", certify->cluster.node_count);
    }
    for (size_t i = 0; i < certify->cluster.node_count; i++) {
        struct cluster_node *node = &certify->cluster.nodes[i];
        struct plan plan;

        if (only && !name_index_has(&wanted, node->name))
            continue;
        plan_node(node, certify->options.is_dry_run, false, &plan);
        if (plan.role != ROLE_SKIP) {
            node_run_add(certify, node);
        } else if (!certify->options.is_idle) { /* with --idle most nodes are in use */
            left[left_count] = (struct left_node){.name = node->name, .order = left_count};
            text_put(left[left_count].why, sizeof left[left_count].why, "%s", plan.message);
            left_count++;
        }
    }
    left_note(certify, left, left_count);
    name_index_clear(&wanted);
    free(left);
    return 0;
}

/* Returns whether the node's state is about to change: after a job ended or slurmd came back, the
 * controller needs a few seconds. */
static bool is_settling(const struct cluster_node *node)
{
    return node->is_completing && node->is_responding && !node->is_allocated && !node->is_drained;
}

/* Finds those of the nodes that are settling; names NULL: of all nodes. Returns their number, or -1
 * with err. */
static long settling_find(const struct cluster *cluster, const struct hostlist *names,
                          struct hostlist *settling, struct error *err)
{
    struct name_index wanted = {0};
    int rv = names ? hostlist_index(names, &wanted) : 0;

    *settling = (struct hostlist){0};
    for (size_t i = 0; rv == 0 && i < cluster->node_count; i++)
        if (is_settling(&cluster->nodes[i]) &&
            (!names || name_index_has(&wanted, cluster->nodes[i].name)))
            rv = hostlist_append(settling, cluster->nodes[i].name);
    name_index_clear(&wanted);
    return rv == 0 ? (long)settling->count
                   : error_set(err, "out of memory for %zu nodes", cluster->node_count);
}

/* Waits until all of these have settled. Others are ignored: on a busy cluster some always settle.
 */
static void settling_wait(const struct certify *certify, const struct hostlist *settling)
{
    double begin = clock_s(), pause_s = CERTIFY_SETTLE_EACH_S;
    bool is_any = true;

    while (is_any && !certify_stop && clock_s() - begin < CERTIFY_SETTLE_S) {
        struct cluster now = {0};

        usleep((useconds_t)(1e6 * pause_s));
        pause_s *= 2;
        if (certify->operations->load_nodes(&now, NULL) != 0)
            return;
        is_any = false;
        for (size_t i = 0; i < settling->count; i++) {
            const struct cluster_node *node = cluster_node(&now, settling->names[i]);

            is_any |= node && is_settling(node);
        }
        cluster_clear(&now);
    }
}

void certify_await(struct certify *certify)
{
    double begin = clock_s(), gone_s = 0;
    struct cluster now = {0};

    while (!certify_stop && certify->operations->load_nodes(&now, NULL) != 0) {
        gone_s = clock_s() - begin;
        if (certify->gone_s + gone_s >= CERTIFY_CONTROLLER_S)
            break;
        sleep(1);
        gone_s = clock_s() - begin;
    }
    certify->gone_s += gone_s;
    if (gone_s > 0)
        certify_note(certify, "slurmctld did not answer for %.0f s", gone_s);
    cluster_clear(&now);
}

void certify_report_leftover(const char *text)
{
    fprintf(stderr, "muster certify: %s\n", text);
}

/* Loads the cluster once the nodes that may be chosen have settled. Returns 0, or -1 with err. */
static int load_settled(struct certify *certify, struct error *err)
{
    const struct hostlist *wanted = certify->campaign ? &certify->campaign->nodes : NULL;
    struct hostlist named = {0}, settling = {0};
    int rv = 0;

    if (certify->options.nodes) {
        rv = hostlist_expand(certify->options.nodes, &named, err);
        wanted = &named;
    }
    if (rv == 0)
        rv = certify->operations->load(&certify->cluster, err);
    /* with --idle only those that are idle already are chosen */
    if (rv == 0 && !certify->options.is_idle &&
        settling_find(&certify->cluster, wanted, &settling, err) > 0) {
        settling_wait(certify, &settling);
        cluster_clear(&certify->cluster);
        rv = certify->operations->load(&certify->cluster, err);
    }
    hostlist_clear(&settling);
    hostlist_clear(&named);
    return rv;
}

/* Notes which nodes the others are compared with. */
static void partners_note(struct certify *certify)
{
    struct hostlist partners = {0};

    for (size_t i = 0; i < certify->count; i++)
        if (certify->node_runs[i].is_partner)
            hostlist_append(&partners, certify->node_runs[i].name);
    if (partners.count > 0)
        certify_note(certify, "%s tested as partner%s: the others are compared with %s",
                     hostlist_text(&partners).text, text_plural(partners.count),
                     partners.count == 1 ? "it" : "them");
    hostlist_clear(&partners);
}

/* Adds the next group of the run's campaign. Returns 0, or -1 with err. */
static int select_group(struct certify *certify, struct error *err)
{
    const struct campaign *campaign = certify->campaign;
    struct records told = {0};
    struct group group;

    if (campaign_records(campaign, &told) != 0) {
        records_clear(&told);
        return error_set(err, "out of memory for %zu nodes", campaign->nodes.count);
    }
    for (size_t i = 0; i < told.count; i++)
        certify_record(certify, *RECORD_AT(&told, i));
    records_clear(&told);
    if (group_choose(&certify->cluster, campaign, certify->options.partition,
                     (size_t)certify->options.at_a_time, &group, err) != 0)
        return -1;
    nodes_add(certify, &group.wanted);
    nodes_add(certify, &group.partners);
    certify_restrict_to(certify, group.partition, &group.partners, &group.wanted);
    partners_note(certify);
    group_clear(&group);
    return 0;
}

/* Adds the nodes that the options choose. partition: that of the options, or NULL. Returns 0, or -1
 * with err. */
static int nodes_choose(struct certify *certify, const struct cluster_partition *partition,
                        struct error *err)
{
    if (certify->campaign)
        return select_group(certify, err);
    if (certify->options.nodes)
        return select_named(certify, err) == 0 ? partners_add(certify, err) : -1;
    if (select_all(certify, partition ? &partition->nodes : NULL, err) != 0 ||
        (certify->options.is_suspects && certify_suspects(certify, err) != 0) ||
        (certify->options.is_idle && certify_idle(certify, err) != 0))
        return -1;
    if (certify->options.is_due)
        certify_due(certify);
    return 0;
}

int certify_select(struct certify *certify, struct error *err)
{
    const struct cluster_partition *partition = NULL;
    const char *wanted = certify->options.partition;

    if (load_settled(certify, err) != 0)
        return -1;
    if (certify->is_root) {
        struct error why;
        int left;

        retest_exclude(&certify->cluster, &certify->changed);
        left = retest_clean_up(certify->operations, &certify->cluster, certify->runs,
                               certify->battery.uid, RETEST_CONFIRM_S, &certify_stop,
                               certify_report_leftover, &why);
        if (left < 0)
            certify_report_leftover(why.text);
        if (left != 0) {
            cluster_clear(&certify->cluster);
            if (load_settled(certify, err) != 0)
                return -1;
        }
    }
    if (*certify->cluster.topology_err.text)
        certify_note(certify, "the nodes of each leaf switch are unknown: %s",
                     certify->cluster.topology_err.text);
    certify->node_runs = calloc(certify->cluster.node_count + 1, sizeof *certify->node_runs);
    if (!certify->node_runs)
        return error_set(err, "out of memory for %zu nodes", certify->cluster.node_count);
    if (wanted) {
        partition = plan_partition(&certify->cluster, wanted, NULL, 0);
        if (!partition) {
            certify->is_misused = true;
            return error_set(err, "no partition %s in this cluster", wanted);
        }
    }
    if (nodes_choose(certify, partition, err) != 0 || certify_take_turns(certify, err) != 0) {
        certify->count = 0;
        return -1;
    }
    return node_runs_index(certify, err);
}
