/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/node/self_drain.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/text.h"
#include "lib/constants/checks_constants.h"
#include "lib/constants/policy_constants.h"
#include "validate/command/node/published.h"
#include "validate/health/deferred_drain.h"
#include "validate/health/unreviewed.h"
#include "validate/policy/policy.h"
#include "validate/slurm/extra.h"

/* What is being decided about this node. */
struct deciding {
    const char *node, *path;
    char deferred_path[300];
    const struct conf *conf;
    struct cluster cluster;
    size_t nodes, cap; /* nodes: the number of nodes that compare faults */
    bool is_for_it;    /* the node's drain names this fault */
    bool is_compared;  /* exactly this fault was compared with those of the others */
    char *text;
    size_t size;
};

static int all_load(struct deciding *deciding, struct error *err)
{
    cluster_clear(&deciding->cluster);
    if (cluster_load(&deciding->cluster, err) != 0)
        return -1;
    /* without the topology a fault of a leaf switch would look like faults of its nodes */
    if (*deciding->cluster.topology_err.text)
        return error_set(err, "the nodes of its leaf switch are unknown: %s",
                         deciding->cluster.topology_err.text);
    deciding->nodes = deciding->cluster.node_count;
    deciding->cap =
        cap_nodes(&deciding->cluster, deciding->conf->drain_cap_percent, CAP_DRAINS_LEAST);
    return 0;
}

/* Compares the drain, and undoes it if needed. If this fails, the next check does it. */
static enum health review(struct deciding *deciding, time_t since)
{
    enum health decision;
    struct error err;

    if (all_load(deciding, &err) != 0)
        return HEALTH_OURS;
    decision = health_review(&deciding->cluster, deciding->node, since, deciding->cap);
    if ((decision == HEALTH_CAP || decision == HEALTH_COMMON_FAULT) &&
        cluster_resume(deciding->node, &err) != 0)
        return HEALTH_OURS;
    unreviewed_remove(deciding->path);
    return decision;
}

static void note_deferred(const struct deciding *deciding, const char *reason, long wait_s)
{
    struct deferred_drain deferred = {.when = time(NULL), .wait_s = wait_s};

    text_put(deferred.reason, sizeof deferred.reason, "%s", reason);
    text_put(deferred.text, sizeof deferred.text, "%s", deciding->text);
    (void)deferred_drain_write(deciding->deferred_path, &deferred);
}

/* Publishes the fault, best effort: it fails if Extra is no JSON object or slurmctld is silent. */
static void publish(const struct deciding *deciding, const char *reason, time_t since)
{
    const struct cluster_node *own = cluster_node(&deciding->cluster, deciding->node);
    char note[300];
    struct error err;

    health_note(reason, time(NULL), note, sizeof note);
    if (!health_is_noted(own->extra, reason, since))
        (void)published_put(own, EXTRA_FAULT, note, &err);
}

/* Withdraws the published fault once the node has none. */
static void withdraw(const struct deciding *deciding)
{
    const struct cluster_node *own = cluster_node(&deciding->cluster, deciding->node);
    struct error err;

    if (!own || published_put(own, EXTRA_FAULT, NULL, &err) == 0)
        (void)unlink(deciding->deferred_path);
}

struct fault {
    const char *reason;
    time_t since;
};

static bool is_alike(const struct cluster_node *other, const void *context)
{
    const struct fault *fault = context;

    return health_has_same_fault(other, fault->reason, fault->since);
}

/* Samples whether other nodes have the same fault. The first time one is enough not to drain, as
 * more may follow; later as many as make a fault common by the rule for all nodes. HEALTH_DRAIN:
 * the sample does not forbid a drain. */
static enum health sample(struct deciding *deciding, const char *reason, time_t since,
                          bool is_first)
{
    const struct fault fault = {reason, since};
    struct error err;
    int rv = published_sample(deciding->node,
                              is_first ? 1 : HEALTH_SAMPLE_NODES * ALIKE_KIND_PERCENT / 100 + 1,
                              is_alike, &fault, &deciding->nodes, &err);

    if (rv < 0)
        text_put(deciding->text, deciding->size, "not drained: %s", err.text);
    else if (rv > 0 && is_first)
        text_put(deciding->text, deciding->size,
                 "not drained yet: other nodes have the same fault; the next check counts them");
    return rv == 0 ? HEALTH_DRAIN : rv > 0 && !is_first ? HEALTH_COMMON_FAULT : HEALTH_FOREIGN;
}

static enum health drain(struct deciding *deciding, const char *reason, time_t since)
{
    struct unreviewed drain = {.drained = time(NULL), .since = since};
    struct deferred_drain deferred;
    bool is_first = !deferred_drain_read(deciding->deferred_path, &deferred) ||
                    !reason_is_same(deferred.reason, reason);
    enum health decision;
    struct error err;

    if (!is_first && deferred_drain_is_pending(&deferred, time(NULL))) {
        text_put(deciding->text, deciding->size, "%s", deferred.text);
        return HEALTH_FOREIGN;
    }
    if (is_first)
        note_deferred(deciding, reason, 0);
    publish(deciding, reason, since);
    decision = sample(deciding, reason, since, is_first);
    if (decision != HEALTH_DRAIN)
        return decision;
    if (all_load(deciding, &err) != 0) {
        text_put(deciding->text, deciding->size, "not drained: %s", err.text);
        return HEALTH_FOREIGN;
    }
    decision = health_decide(&deciding->cluster, deciding->node, reason, since, deciding->cap);
    if (decision != HEALTH_DRAIN)
        return decision;
    text_put(drain.reason, sizeof drain.reason, "%s", reason);
    if (unreviewed_write(deciding->path, &drain, &err) != 0 ||
        cluster_drain(deciding->node, reason, &err) != 0) {
        text_put(deciding->text, deciding->size, "not drained: %s", err.text);
        return HEALTH_FOREIGN;
    }
    text_put(deciding->text, deciding->size, "drained: %s", reason);
    deciding->is_for_it = true;
    sleep(HEALTH_SETTLE_S);
    return review(deciding, since);
}

/* Whether the node still has this drain, by its reason and time. */
static bool has_drain(const struct cluster_node *node, const struct unreviewed *drain)
{
    return node && cap_is_drained_by_muster(node) && strcmp(node->reason, drain->reason) == 0 &&
           fabs(difftime(node->reason_time, drain->drained)) <= HEALTH_REVIEW_CLOCKS_S;
}

static enum health decide(struct deciding *deciding, const char *reason, time_t since)
{
    struct unreviewed earlier;
    bool is_unreviewed = unreviewed_read(deciding->path, &earlier);
    struct deferred_drain deferred;
    bool is_published = deferred_drain_read(deciding->deferred_path, &deferred);
    const struct cluster_node *own;
    enum health decision;
    struct error err;

    if (!*reason && !is_unreviewed && !is_published)
        return HEALTH_FOREIGN;
    if (published_load(deciding->node, &deciding->cluster, &err) != 0) {
        if (*reason || is_unreviewed)
            text_put(deciding->text, deciding->size, "%s: %s",
                     is_unreviewed ? "drain not reviewed" : "not drained", err.text);
        return HEALTH_FOREIGN;
    }
    if (!*reason && is_published && !is_unreviewed) /* else it may be here only to review */
        withdraw(deciding);
    own = cluster_node(&deciding->cluster, deciding->node);
    deciding->is_for_it = own && reason_has(own->reason, reason);
    if (is_unreviewed && has_drain(own, &earlier)) {
        deciding->is_compared = reason_is_same(own->reason, reason);
        return review(deciding, earlier.since);
    }
    if (is_unreviewed)
        unreviewed_remove(deciding->path);
    decision = *reason ? health_state(own) : HEALTH_FOREIGN;
    deciding->is_compared = true;
    return decision == HEALTH_DRAIN ? drain(deciding, reason, since) : decision;
}

bool self_drain(const char *node, const char *reason, time_t since, const struct conf *conf,
                const char *path, char *text, size_t size)
{
    struct deciding deciding = {
        .node = node, .path = path, .conf = conf, .text = text, .size = size};
    enum health decision;

    *text = '\0';
    text_put(deciding.deferred_path, sizeof deciding.deferred_path, "%s.spared", path);
    decision = decide(&deciding, reason, since);
    switch (decision) {
    case HEALTH_CAP:
        text_put(text, size, "not drained: muster has drained %zu node%s, the maximum of DrainCap",
                 deciding.cap, text_plural(deciding.cap));
        break;
    case HEALTH_COMMON_FAULT:
        text_put(text, size,
                 "not drained: many nodes have the same fault, so a cause outside the nodes is "
                 "likely");
        break;
    case HEALTH_NO_NODE:
        text_put(text, size, "not drained: Slurm has no node %s", node);
        break;
    default: /* the message, if any, is set already */
        break;
    }
    if ((decision == HEALTH_CAP || decision == HEALTH_COMMON_FAULT) && deciding.is_compared)
        note_deferred(&deciding, reason, (long)deciding.nodes / HEALTH_LOOKS_PER_S);
    cluster_clear(&deciding.cluster);
    return decision == HEALTH_OURS && deciding.is_for_it;
}
