/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/certificate/brake.h"
#include "lib/certificate/fingerprint.h"
#include "lib/certificate/refused.h"
#include "lib/certificate/seal.h"
#include "validate/command/node/health.h"
#include "validate/command/node/published.h"
#include "validate/policy/policy.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/extra.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/constants/command_constants.h"

/* The health check's work for the gate: finds whether the node may refuse jobs, and names the gate
 * in the reason of a drain that it caused. A node with a valid certificate does not query the
 * controller. */

static void report(const char *node, const char *text)
{
    printf("muster check: %s: gate: %s\n", node, text);
}

/* Makes a drain muster's if Slurm drained the node with "Prolog error" after a refusal of the gate:
 * then muster certify tests the node without being given its name. */
static void claim_drain(const char *name, const struct cluster_node *node, const struct conf *conf)
{
    const char *part = node ? reason_slurm_part(node->reason) : NULL;
    char line[400], reason[200];
    size_t length = strlen(name);
    const char *text = line;
    struct error err;
    time_t when;

    if (!part || strcmp(part, "prolog") != 0 || !node->is_drained ||
        refused_read(conf->certificate_path, &when, line, sizeof line) != 0 ||
        !refused_explains(when, node->reason_time))
        return;
    if (strncmp(text, name, length) == 0 && strncmp(text + length, ": ", 2) == 0)
        text += length + 2;
    reason_write(&(struct reason_fault){FAULT_GATE_REFUSED, "", text}, 1, time(NULL), reason,
                 sizeof reason);
    if (cluster_drain(name, reason, &err) != 0)
        report(name, err.text);
}

/* Keeps the brake on until the next health check, which decides again: brake_is_recent() is false
 * for such a brake. */
static void keep_brake_on(struct brake *brake, const char *message)
{
    brake->when = time(NULL) - BRAKE_FRESH_S / 2;
    brake->permission = BRAKE_ON;
    snprintf(brake->message, sizeof brake->message, "%s", message);
}

static void out_of_service(struct brake *brake)
{
    keep_brake_on(brake, "the node was out of service at the last muster check --health");
}

static bool is_alike(const struct cluster_node *other, const void *cause)
{
    return refusals_has_same_cause(other, cause);
}

/* Samples whether other nodes forbid a refusal. The first time one with the same cause is enough,
 * as more may follow; later as many as may refuse. Returns 1 if so, 0, or -1 with err. */
static int sample(const char *name, const struct conf *conf, const struct brake *before,
                  struct brake *brake, struct error *err)
{
    bool is_first = strcmp(before->cause, brake->cause) != 0;
    size_t nodes;
    int rv = published_sample(name, is_first ? 1 : (size_t)conf->gate_brake, is_alike, brake->cause,
                              &nodes, err);

    if (rv <= 0)
        return rv;
    if (is_first) {
        keep_brake_on(
            brake, "other nodes have the same cause; the next muster check --health counts them");
        return rv;
    }
    brake->when = time(NULL);
    brake->permission = BRAKE_ON;
    snprintf(brake->message, sizeof brake->message,
             "at least %d others are \"%s\"; at most %d nodes may refuse jobs for one cause "
             "(GateBrake)",
             conf->gate_brake, brake->cause, conf->gate_brake);
    return rv;
}

/* Publishes the cause, then compares with the other nodes: refusals.h. cluster: only this node,
 * then all. before: the last brake, or empty. is_in_service: whether the node is in service. */
static int check_leave(const char *name, const struct conf *conf, struct cluster *cluster,
                       const struct brake *before, struct brake *brake, bool *is_in_service,
                       struct error *err)
{
    const struct cluster_node *node = cluster_node(cluster, name);
    struct refusals refusals;
    size_t cap;
    int rv;

    if (!node)
        return error_set(err, "Slurm has no node %s", name);
    if (published_put(node, EXTRA_GATE, brake->cause, err) != 0)
        return -1;
    *is_in_service = refusals_counts_node(node);
    if (!*is_in_service) {
        out_of_service(brake);
        return 0;
    }
    rv = sample(name, conf, before, brake, err);
    if (rv != 0)
        return rv < 0 ? -1 : 0;
    cluster_clear(cluster);
    if (cluster_load_nodes(cluster, err) != 0)
        return -1;
    cap = cap_nodes(cluster, conf->drain_cap_percent, CAP_DRAINS_LEAST);
    refusals_count(cluster, name, brake->cause, &refusals);
    *is_in_service = refusals.counts;
    brake->when = time(NULL);
    brake->permission =
        refusals_allow(&refusals, (size_t)conf->gate_brake, cap) ? BRAKE_PERMITTED : BRAKE_ON;
    snprintf(
        brake->message, sizeof brake->message,
        "%zu of %zu nodes are \"%s\"; drained otherwise: %zu; at most %d may refuse jobs for one "
        "cause (GateBrake), and %zu in total (DrainCap)",
        refusals.same_cause + 1, cap_base(cluster), brake->cause, refusals.drained,
        conf->gate_brake, cap);
    if (!refusals.counts) /* drained in between */
        out_of_service(brake);
    return 0;
}

/* Checks the certificate as the gate does. Returns whether the gate would refuse, and sets the
 * cause. */
static bool would_refuse(const char *name, const struct inventory *inventory,
                         const struct conf *conf, struct brake *brake)
{
    char *fingerprint = fingerprint_node(inventory, conf), message[512];
    const struct certificate_facts facts = {name, getenv("SLURM_CLUSTER_NAME"), fingerprint,
                                            time(NULL)};
    struct certificate certificate = {0};
    enum certificate_state state;
    const char *key;
    bool is_refused;

    if (!fingerprint)
        return false;
    seal_use_socket(conf->munge_socket);
    state = certificate_check(conf->certificate_path, 0, &facts, seal_verify, &certificate, message,
                              sizeof message);
    is_refused = certificate_policy(conf, state, &key) == POLICY_REFUSE;
    brake_cause(state, certificate.fingerprint, fingerprint, brake->cause);
    certificate_clear(&certificate);
    free(fingerprint);
    return is_refused;
}

void health_gate(const char *name, const struct inventory *inventory, const struct conf *conf)
{
    struct brake brake = {0}, before;
    struct cluster cluster = {0};
    const struct cluster_node *node;
    struct error err;
    char line[8];
    time_t when;
    bool has_note = refused_read(conf->certificate_path, &when, line, sizeof line) == 0 &&
                    when > time(NULL) - GATE_NOTE_OLD_S;
    bool has_file = brake_read(conf->certificate_path, &before, NULL) != 1;
    bool is_refusing, is_lifted, is_in_service = false;
    int rv = 0;

    if (geteuid() != 0)
        return;
    is_refusing = conf->gate_brake > 0 && would_refuse(name, inventory, conf, &brake);
    if (!has_note && !has_file && !is_refusing)
        return;
    if (published_load(name, &cluster, &err) != 0) {
        report(name, err.text);
        return;
    }
    node = cluster_node(&cluster, name);
    if (has_note)
        claim_drain(name, node, conf);
    is_lifted =
        has_file && before.permission == BRAKE_LIFTED; /* by hand: other nodes do not count */
    if (is_refusing &&
        (is_lifted || (has_file && brake_is_recent(&before, brake.cause, time(NULL))))) {
        rv = node ? published_put(node, EXTRA_GATE, brake.cause, &err) : 0;
        if (rv == 0 && !is_lifted && node && refusals_counts_node(node))
            report(name, before.message);
    } else if (is_refusing) {
        rv = check_leave(name, conf, &cluster, &before, &brake, &is_in_service, &err);
        if (rv == 0)
            rv = brake_write(conf->certificate_path, &brake, &err);
        if (rv == 0 && brake.permission == BRAKE_ON && is_in_service)
            report(name, brake.message);
    } else if (has_file) {
        rv = node ? published_put(node, EXTRA_GATE, NULL, &err) : 0;
        if (rv == 0)
            rv = brake_remove(conf->certificate_path, &err);
    }
    if (rv != 0)
        report(name, err.text);
    cluster_clear(&cluster);
}
