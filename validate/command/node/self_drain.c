/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/node/self_drain.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/text.h"
#include "lib/constants/checks_constants.h"
#include "validate/health/spared.h"
#include "validate/health/unreviewed.h"
#include "validate/policy/policy.h"

/* What is being decided about this node. */
struct deciding {
    const char *node, *path;
    char spared_path[300];
    const struct conf *conf;
    struct cluster cluster;
    size_t cap;
    bool is_for_it;   /* the drain that there is names that fault */
    bool is_compared; /* that fault, no more and no less, with what the others have */
    char *text;
    size_t size;
};

static int all_load(struct deciding *deciding, struct error *err)
{
    cluster_clear(&deciding->cluster);
    if (cluster_load(&deciding->cluster, err) != 0)
        return -1;
    /* what a leaf switch does to its nodes would look like faults of theirs */
    if (*deciding->cluster.topology_err.text)
        return error_set(err, "the nodes of its leaf switch are unknown: %s",
                         deciding->cluster.topology_err.text);
    deciding->cap =
        cap_nodes(&deciding->cluster, deciding->conf->drain_cap_percent, CAP_DRAINS_LEAST);
    return 0;
}

/* What cannot be read, or taken back, now is left to the next check. */
static enum health review(struct deciding *deciding, time_t since)
{
    enum health decision;
    struct error err;

    if (all_load(deciding, &err) != 0)
        return HEALTH_OURS;
    decision = health_review(&deciding->cluster, deciding->node, since, deciding->cap);
    if ((decision == HEALTH_CAP || decision == HEALTH_ALIKE) &&
        cluster_resume(deciding->node, &err) != 0)
        return HEALTH_OURS;
    unreviewed_remove(deciding->path);
    return decision;
}

/* Whether it was found not long ago that it is not drained for that. */
static bool is_spared(const struct deciding *deciding, const char *reason)
{
    struct spared spared;

    if (!spared_read(deciding->spared_path, time(NULL), &spared) ||
        !reason_is_same(spared.reason, reason))
        return false;
    text_put(deciding->text, deciding->size, "%s", spared.text);
    return true;
}

/* After a look at all nodes: the next one comes the later the more there are. */
static void spared_note(const struct deciding *deciding, const char *reason)
{
    struct spared spared = {.when = time(NULL),
                            .wait_s = (long)deciding->cluster.node_count / HEALTH_LOOKS_PER_S};

    text_put(spared.reason, sizeof spared.reason, "%s", reason);
    text_put(spared.text, sizeof spared.text, "%s", deciding->text);
    (void)spared_write(deciding->spared_path, &spared);
}

static enum health drain(struct deciding *deciding, const char *reason, time_t since)
{
    struct unreviewed drain = {.drained = time(NULL), .since = since};
    enum health decision;
    struct error err;

    if (is_spared(deciding, reason))
        return HEALTH_FOREIGN;
    if (all_load(deciding, &err) != 0) {
        text_put(deciding->text, deciding->size, "not drained: %s", err.text);
        return HEALTH_FOREIGN;
    }
    decision = health_decide(&deciding->cluster, deciding->node, reason, since, deciding->cap);
    if (decision != HEALTH_DRAIN)
        return decision;
    text_put(drain.reason, sizeof drain.reason, "%s", reason);
    unreviewed_write(deciding->path, &drain);
    if (cluster_drain(deciding->node, reason, &err) != 0) {
        text_put(deciding->text, deciding->size, "not drained: %s", err.text);
        return HEALTH_FOREIGN;
    }
    text_put(deciding->text, deciding->size, "drained: %s", reason);
    deciding->is_for_it = true;
    sleep(HEALTH_SETTLE_S);
    return review(deciding, since);
}

/* Whether the node has that drain still, by its reason and the time of it. */
static bool has_drain(const struct cluster_node *node, const struct unreviewed *drain)
{
    return node && cap_is_taken(node) && strcmp(node->reason, drain->reason) == 0 &&
           fabs(difftime(node->reason_time, drain->drained)) <= HEALTH_REVIEW_CLOCKS_S;
}

static enum health decide(struct deciding *deciding, const char *reason, time_t since)
{
    struct unreviewed earlier;
    bool is_unreviewed = unreviewed_read(deciding->path, &earlier);
    const struct cluster_node *own;
    enum health decision;
    struct error err;

    if (!*reason && !is_unreviewed)
        return HEALTH_FOREIGN;
    if (cluster_open(&err) != 0 ||
        cluster_load_node(deciding->node, &deciding->cluster, &err) != 0) {
        text_put(deciding->text, deciding->size, "%s: %s",
                 is_unreviewed ? "drain not reviewed" : "not drained", err.text);
        return HEALTH_FOREIGN;
    }
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
    text_put(deciding.spared_path, sizeof deciding.spared_path, "%s.spared", path);
    decision = decide(&deciding, reason, since);
    switch (decision) {
    case HEALTH_CAP:
        text_put(text, size, "not drained: muster has drained %zu node%s, the maximum of DrainCap",
                 deciding.cap, text_plural(deciding.cap));
        break;
    case HEALTH_ALIKE:
        text_put(text, size,
                 "not drained: muster drained others for the same fault, so a cause outside the "
                 "nodes is likely");
        break;
    case HEALTH_NO_NODE:
        text_put(text, size, "not drained: Slurm has no node %s", node);
        break;
    default: /* it is drained by others: that has been said */
        break;
    }
    if ((decision == HEALTH_CAP || decision == HEALTH_ALIKE) && deciding.is_compared)
        spared_note(&deciding, reason);
    cluster_clear(&deciding.cluster);
    return decision == HEALTH_OURS && deciding.is_for_it;
}
