/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/choose/turns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "validate/certify/choose/others.h"
#include "validate/certify/choose/suspects.h"
#include "validate/history/node_status.h"
#include "validate/policy/testing.h"
#include "validate/slurm/extra.h"
#include "validate/slurm/revocation.h"

/* Until when the nodes are certified. */
struct ends {
    const struct cluster *cluster;
    double *until; /* per node of the cluster; 0: not known to be certified */
};

static void end_set(const char *name, double until, void *context)
{
    const struct ends *ends = context;
    const struct cluster_node *node = cluster_node(ends->cluster, name);

    if (node)
        ends->until[node - ends->cluster->nodes] = until;
}

/* Returns until when each node of the cluster is certified; malloc'd. NULL with err. */
static double *ends_read(const struct certify *certify, struct error *err)
{
    const struct cluster *cluster = &certify->cluster;
    struct ends ends = {cluster, calloc(cluster->node_count + 1, sizeof *ends.until)};

    if (!ends.until)
        error_set(err, "out of memory for %zu nodes", cluster->node_count);
    else if (node_status_certified(certify->conf.history_path, cluster->name, end_set, &ends,
                                   err) >= 0)
        return ends.until;
    free(ends.until);
    return NULL;
}

/* Returns whether Slurm shows that the node lacks a certificate, which the history may not: the
 * node waits for one in a reservation, its gate would refuse jobs, or its certificate is revoked.
 */
static bool lacks_certificate(const struct cluster_node *node)
{
    char *gate = extra_read_note(node->extra, EXTRA_GATE);
    bool lacks = node->is_waiting || gate || revocation_read(node->comment) != 0;

    free(gate);
    return lacks;
}

/* Returns until when the node is certified; 0: it is not, or that is not known (ends NULL). */
static double end_of(const struct certify *certify, const double *ends,
                     const struct cluster_node *node)
{
    return ends && !lacks_certificate(node) ? ends[node - certify->cluster.nodes] : 0;
}

void certify_due(struct certify *certify)
{
    struct hostlist due = {0}, others = {0};
    double ahead_s = turn_ahead_s((double)certify->conf.certificate_valid_s);
    struct error err;
    double *ends = ends_read(certify, &err);

    if (!ends)
        certify_note(certify, "all certificates count as due: %s", err.text);
    for (size_t i = 0; i < certify->count; i++) {
        bool is_due = certify->node_runs[i].plan.role == ROLE_RETEST ||
                      turn_is_due(end_of(certify, ends, certify->node_runs[i].slurm),
                                  (double)time(NULL), ahead_s);

        if (certify->node_runs[i].plan.role != ROLE_FAULTY)
            hostlist_append(is_due ? &due : &others, certify->node_runs[i].name);
    }
    certify_restrict_to(certify, NULL, &others, &due);
    hostlist_clear(&due);
    hostlist_clear(&others);
    free(ends);
}

static void leave(struct node_run *node_run, const char *why)
{
    node_run->plan.role = ROLE_SKIP;
    snprintf(node_run->plan.message, sizeof node_run->plan.message, "left alone: %s", why);
}

/* Marks in nodes, which is in the order of the node runs, which may be tested. If the history
 * cannot be read, all certificates count as missing. */
static void turns_choose(const struct certify *certify, const struct name_index *busy,
                         struct turn_node *nodes)
{
    size_t cap = cap_nodes(&certify->cluster, certify->conf.test_cap_percent, CAP_TESTS_LEAST);
    double *ends = ends_read(certify, NULL);

    for (size_t i = 0; i < certify->count; i++) {
        const struct node_run *node_run = &certify->node_runs[i];

        nodes[i] = (struct turn_node){.is_busy = !role_is_testable(node_run->plan.role) ||
                                                 name_index_has(busy, node_run->name),
                                      .is_drained = node_run->plan.role == ROLE_RETEST,
                                      .is_partner = node_run->is_partner,
                                      .since = (double)node_run->slurm->reason_time,
                                      .certified_until = end_of(certify, ends, node_run->slurm)};
    }
    turn_choose(nodes, certify->count, cap > busy->count ? cap - busy->count : 0);
    free(ends);
}

/* Applies the choice to the run; without -w the nodes that are left alone are removed from it. */
static void turns_apply(struct certify *certify, const struct name_index *busy,
                        const struct turn_node *nodes, struct hostlist *chosen)
{
    struct hostlist beyond = {0};
    size_t kept = 0;

    for (size_t i = 0; i < certify->count; i++) {
        struct node_run node_run = certify->node_runs[i];
        bool is_ours = role_is_testable(node_run.plan.role);

        if (nodes[i].is_chosen) {
            hostlist_append(chosen, node_run.name);
        } else if (is_ours && name_index_has(busy, node_run.name)) {
            leave(&node_run, "another run is testing it");
            if (!certify->options.nodes)
                certify_note(certify, "%s: %s", node_run.name, node_run.plan.message);
        } else if (is_ours) {
            leave(&node_run, "the number of nodes under test is at TestCap");
            hostlist_append(&beyond, node_run.name);
        }
        if (certify->options.nodes || node_run.plan.role != ROLE_SKIP)
            certify->node_runs[kept++] = node_run;
    }
    certify->count = kept;
    if (beyond.count > 0)
        certify_note(certify, "left for another run: %s (TestCap=%.0f%%)",
                     hostlist_text(&beyond).text, certify->conf.test_cap_percent);
    hostlist_clear(&beyond);
}

int certify_take_turns(struct certify *certify, struct error *err)
{
    struct turn_node *nodes = calloc(certify->count + 1, sizeof *nodes);
    struct hostlist busy = {0}, chosen = {0};
    struct name_index is_busy = {0};
    int rv = nodes ? 0 : error_set(err, "out of memory for %zu nodes", certify->count), lock = -1;

    if (rv == 0 && geteuid() == 0 && (lock = testing_lock(certify->runs, err)) < 0) {
        /* a host without a place for journals has no other runs to heed */
        rv = errno == EWOULDBLOCK ? -1 : 0;
        error_prefix(err, "cannot tell whether another run tests the same nodes");
        if (rv == 0)
            certify_note(certify, "%s", err->text);
    }
    if (rv == 0 && lock >= 0)
        rv = testing_read(certify->runs, certify->run, &busy, err);
    if (rv == 0) {
        certify_others(certify, &busy);
        if (hostlist_index(&busy, &is_busy) != 0)
            rv = error_set(err, "out of memory for %zu nodes", busy.count);
    }
    if (rv == 0) {
        turns_choose(certify, &is_busy, nodes);
        turns_apply(certify, &is_busy, nodes, &chosen);
        rv = lock < 0 ? 0 : testing_write(certify->undo.journal, &chosen, err);
    }
    if (lock >= 0)
        close(lock);
    free(nodes);
    name_index_clear(&is_busy);
    hostlist_clear(&busy);
    hostlist_clear(&chosen);
    return rv;
}

void certify_leave_waiting(struct certify *certify)
{
    struct hostlist staying = {0}, leaving = {0};
    struct name_index is_leaving = {0};
    struct cluster now = {0};
    struct error err = {""};
    int lock, rv;

    for (size_t i = 0; i < certify->count; i++)
        if (certify->node_runs[i].slurm->is_waiting && *certify->node_runs[i].certified_until)
            hostlist_append(&leaving, certify->node_runs[i].name);
    if (leaving.count == 0)
        return;
    lock = testing_lock(certify->runs, &err); /* another run may do the same now */
    rv = lock < 0                                     ? -1
         : hostlist_index(&leaving, &is_leaving) == 0 ? certify->operations->load_nodes(&now, &err)
                                                      : error_set(&err, "no memory");
    for (size_t i = 0; rv == 0 && i < now.node_count; i++)
        if (now.nodes[i].is_waiting && !name_index_has(&is_leaving, now.nodes[i].name))
            hostlist_append(&staying, now.nodes[i].name);
    if (rv == 0 && now.has_waiting)
        rv = certify->operations->update_waiting(&staying, &leaving, true, &err);
    if (rv != 0)
        certify_note(certify, "not taken out of reservation " CLUSTER_WAITING ": %s", err.text);
    else
        certify_note(certify, "taken out of reservation " CLUSTER_WAITING ": %s",
                     hostlist_text(&leaving).text);
    if (lock >= 0)
        close(lock);
    cluster_clear(&now);
    name_index_clear(&is_leaving);
    hostlist_clear(&staying);
    hostlist_clear(&leaving);
}
