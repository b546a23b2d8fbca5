/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/health.h"

#include <stdio.h>
#include <string.h>

#include "lib/constants/policy_constants.h"
#include "tests/unit/tap.h"

static char none[] = "", muster_reason[] = "muster: link_down eth1 has no carrier 2026-11-20",
            admin_reason[] = "replace PSU";

/* health.c finds nodes by name only */
struct cluster_node *cluster_node(const struct cluster *cluster, const char *name)
{
    for (size_t i = 0; i < cluster->node_count; i++)
        if (strcmp(cluster->nodes[i].name, name) == 0)
            return &cluster->nodes[i];
    return NULL;
}

static bool is_hard_fault(const char *test, enum fault_code code, enum verdict verdict,
                          bool lets_rails_fail)
{
    struct record record = RECORD(.test = test, .code = code, .verdict = verdict);

    return health_is_hard(&record, lets_rails_fail);
}

static void test_hard_faults(void)
{
    ok(is_hard_fault("gpu.enumerate", FAULT_GPU_MISSING, VERDICT_FAIL, false),
       "a GPU that is missing");
    ok(is_hard_fault("gpu.health", FAULT_NONE, VERDICT_FAIL, false), "a GPU that is not healthy");
    ok(is_hard_fault("slurm.gres", FAULT_NONE, VERDICT_FAIL, false), "a device of Slurm's GRES");
    ok(is_hard_fault("net.interfaces", FAULT_LINK_DOWN, VERDICT_FAIL, false),
       "a NIC without a link");
    ok(!is_hard_fault("net.interfaces", FAULT_LINK_DOWN, VERDICT_FAIL, true),
       "... but not if AllowFailedRails permits it");
    ok(is_hard_fault("net.interfaces", FAULT_INTERFACE_MISSING, VERDICT_FAIL, true),
       "a missing NIC");
    ok(!is_hard_fault("net.interfaces", FAULT_MTU_WRONG, VERDICT_FAIL, false),
       "not an MTU that differs from the configuration");
    ok(!is_hard_fault("host.limits", FAULT_NONE, VERDICT_FAIL, false), "not a limit");
    ok(!is_hard_fault("host.munge", FAULT_NONE, VERDICT_FAIL, false), "not MUNGE");
    ok(!is_hard_fault("preflight.suspects", FAULT_NONE, VERDICT_FAIL, false),
       "not reports of users");
    ok(!is_hard_fault("gpu.health", FAULT_NONE, VERDICT_WARN, false), "not a warning");
    ok(!is_hard_fault("gpu.health", FAULT_NONE, VERDICT_UNKNOWN, false), "not an unknown result");
    ok(!is_hard_fault(NULL, FAULT_NONE, VERDICT_FAIL, false), "not a record without a test");
}

static void set_drained(struct cluster_node *node, char *reason, time_t when)
{
    node->is_drained = true;
    node->reason = reason;
    node->reason_time = when;
}

static void test_decisions(void)
{
    static char names[4][4] = {"n1", "n2", "n3", "n4"},
                others[] = "muster: link_down eth2 has no carrier 2026-11-20";
    static const char new_reason[] = "muster: gpu_missing gpu3 has gone 2026-11-21";
    struct cluster_node nodes[4];
    struct cluster cluster = {.nodes = nodes, .node_count = 4};

    for (int i = 0; i < 4; i++)
        nodes[i] =
            (struct cluster_node){.name = names[i], .reason = none, .is_idle = true, .leaf = -1};
    is_int(health_decide(&cluster, "n1", new_reason, 100, 1), HEALTH_DRAIN,
           "a node in service is drained");
    is_int(health_decide(&cluster, "n9", new_reason, 100, 1), HEALTH_NO_NODE,
           "a node that Slurm does not know is not drained");
    set_drained(&nodes[0], admin_reason, 0);
    is_int(health_decide(&cluster, "n1", new_reason, 100, 1), HEALTH_FOREIGN,
           "nor is a node that others drained");
    is_int(health_decide(&cluster, "n2", new_reason, 100, 1), HEALTH_DRAIN,
           "... whose drain does not count against the cap");
    nodes[0].reason = none;
    nodes[0].is_drained = false;
    nodes[0].is_down = true;
    is_int(health_decide(&cluster, "n1", new_reason, 100, 1), HEALTH_FOREIGN,
           "nor is a node that is down");
    nodes[0].is_down = false;
    nodes[0].is_invalid = true;
    is_int(health_decide(&cluster, "n1", new_reason, 100, 1), HEALTH_FOREIGN,
           "nor is a node with an invalid registration");
    nodes[0].is_invalid = false;
    set_drained(&nodes[0], muster_reason, 100);
    is_int(health_decide(&cluster, "n1", new_reason, 100, 1), HEALTH_OURS,
           "nor is a node that muster drained");
    is_int(health_decide(&cluster, "n2", new_reason, 100, 1), HEALTH_CAP,
           "nor is a node beyond the cap");
    is_int(health_decide(&cluster, "n2", new_reason, 100, 2), HEALTH_DRAIN,
           "... within the cap it is");

    is_int(health_decide(&cluster, "n2", muster_reason, 100, 2), HEALTH_COMMON_FAULT,
           "... but not for a fault that half of the nodes share");

    /* n2, n3 and n4 drained themselves in the same second without seeing each other */
    for (int i = 1; i < 4; i++)
        set_drained(&nodes[i], i == 1 ? others : muster_reason, 200);
    is_int(health_review(&cluster, "n1", 200, 2), HEALTH_OURS, "the earliest drain stays");
    is_int(health_review(&cluster, "n2", 200, 2), HEALTH_OURS,
           "of drains in the same second the first by name stays, too");
    is_int(health_review(&cluster, "n3", 200, 2), HEALTH_CAP, "the next one exceeds the cap");
    is_int(health_review(&cluster, "n4", 200, 2), HEALTH_CAP, "... and so does the last one");
    is_int(health_review(&cluster, "n3", 200, 3), HEALTH_COMMON_FAULT,
           "... also within the cap, if half of the nodes share the fault");
    nodes[3].reason = admin_reason;
    is_int(health_review(&cluster, "n4", 200, 2), HEALTH_FOREIGN,
           "a drain that others made meanwhile is left alone");
    is_int(health_review(&cluster, "n9", 200, 2), HEALTH_NO_NODE, "so is a missing node");
}

enum { NODES = 64, ON_LEAF = 8 };

/* Makes healthy nodes n0, n1 and so on. */
static struct cluster nodes_make(struct cluster_node *nodes)
{
    static char names[NODES][4];

    for (int i = 0; i < NODES; i++) {
        snprintf(names[i], sizeof names[i], "n%d", i);
        nodes[i] = (struct cluster_node){
            .name = names[i], .reason = none, .is_idle = true, .leaf = i / ON_LEAF};
    }
    return (struct cluster){.nodes = nodes, .node_count = NODES};
}

/* Most nodes of a cloud may not exist yet. */
static void test_clouds(void)
{
    enum { MADE = 4 };
    struct cluster_node nodes[NODES];
    struct cluster cluster = nodes_make(nodes);

    for (int i = 0; i < NODES; i++) {
        nodes[i].is_cloud = true;
        nodes[i].is_absent = i >= MADE;
        nodes[i].leaf = -1;
    }
    set_drained(&nodes[0], muster_reason, 100);
    is_int(health_decide(&cluster, "n1", muster_reason, 102, NODES), HEALTH_COMMON_FAULT,
           "half of a cloud's existing nodes share a fault");
    for (int i = MADE; i < NODES; i++)
        nodes[i].is_cloud = false;
    is_int(health_decide(&cluster, "n1", muster_reason, 102, NODES), HEALTH_DRAIN,
           "... nodes that are powered down count in the base");
}

/* When a leaf switch restarts, only its nodes lose their links. */
static void test_leaves(void)
{
    struct cluster_node nodes[NODES];
    struct cluster cluster = nodes_make(nodes);

    for (int i = 0; i < 2; i++) {
        is_int(health_decide(&cluster, nodes[i].name, muster_reason, 102, NODES), HEALTH_DRAIN,
               "node %d of a leaf is drained", i);
        set_drained(&nodes[i], muster_reason, 100 + i);
    }
    is_int(health_decide(&cluster, "n2", muster_reason, 102, NODES), HEALTH_COMMON_FAULT,
           "... the third is not, since the switch may be at fault");
    is_int(health_decide(&cluster, "n8", muster_reason, 102, NODES), HEALTH_DRAIN,
           "... a node of another leaf is");
    for (int i = 2; i <= ON_LEAF; i++)
        set_drained(&nodes[i], muster_reason, 102);
    is_int(health_review(&cluster, "n1", 102, NODES), HEALTH_OURS, "... and the first drains stay");
    for (int i = 2; i < ON_LEAF; i++)
        is_int(health_review(&cluster, nodes[i].name, 102, NODES), HEALTH_COMMON_FAULT,
               "node %d, drained in the same second as others of its leaf, takes its drain back",
               i);
    for (int i = 0; i < NODES; i++)
        nodes[i].leaf = -1;
    is_int(health_review(&cluster, "n2", 102, NODES), HEALTH_OURS,
           "without a topology only the whole cluster counts");
    for (int i = 0; i < 4; i++)
        nodes[i].leaf = 0;
    is_int(health_review(&cluster, "n1", 102, NODES), HEALTH_COMMON_FAULT,
           "with four nodes on a leaf the second one takes its drain back");
    nodes[0].leaf = 1;
    is_int(health_review(&cluster, "n1", 102, NODES), HEALTH_OURS,
           "... not if the first one is on another leaf");
}

/* Some nodes wait for the same spare part, and weeks later another node loses its own. */
static void drains_what_fails_weeks_after_others(void)
{
    enum { WEEK_S = 7 * 86400 };
    static char early[] = "muster: gpu_missing gpu3 2026-11-01",
                late[] = "muster: gpu_missing gpu3 2026-11-21";
    const time_t now = 3 * WEEK_S;
    struct cluster_node nodes[NODES];
    struct cluster cluster = nodes_make(nodes);

    for (int i = 0; i < 4; i++)
        set_drained(&nodes[i], early, (i + 1) * WEEK_S / 4);
    is_int(health_decide(&cluster, "n7", late, now, NODES), HEALTH_DRAIN,
           "a node is drained though others of its leaf were drained for the same weeks ago");
    set_drained(&nodes[7], late, now);
    is_int(health_review(&cluster, "n7", now, NODES), HEALTH_OURS, "... and stays drained");
    nodes[7].is_drained = false;
    for (int i = 0; i < 4; i++)
        nodes[i].reason_time = now - ALIKE_DRAINS_S - 1;
    is_int(health_decide(&cluster, "n7", late, now, NODES), HEALTH_DRAIN,
           "... also if they were drained for an event just before");
    for (int i = 0; i < 4; i++)
        nodes[i].reason_time = now - ALIKE_DRAINS_S;
    is_int(health_decide(&cluster, "n7", late, now, NODES), HEALTH_COMMON_FAULT,
           "... not if they were drained for the same event");
    for (int i = 0; i < 4; i++)
        nodes[i].reason_time = now + WEEK_S;
    is_int(health_decide(&cluster, "n7", late, now, NODES), HEALTH_COMMON_FAULT,
           "... not if they were drained after its own fault began, however long ago");
}

/* Which drains make a node remove its certificate. */
static void ends_certificates(void)
{
    static char refusal[] = "muster: gate_refused - certificate expired: on 2026-11-19 2026-11-20",
                both[] = "muster: gate_refused - job 7 refused; link_down eth1 2026-11-20";
    struct cluster_node node = {.reason = muster_reason, .reason_time = 200, .is_drained = true};

    ok(health_ends_certificate(&node, 100),
       "a drain for a fault ends a certificate issued before it");
    ok(!health_ends_certificate(&node, 200), "... but not one issued after it");
    node.reason = refusal;
    ok(!health_ends_certificate(&node, 100),
       "a refusal by the gate does not, since its cause would change, and other nodes refuse, too");
    node.reason = both;
    ok(health_ends_certificate(&node, 100), "... a refusal with a fault does");
    node.reason = admin_reason;
    ok(!health_ends_certificate(&node, 100), "a drain by others does not");
    node.reason = muster_reason;
    node.is_drained = false;
    ok(!health_ends_certificate(&node, 100), "nor does the reason of a node in service");
    node.is_down = true;
    ok(health_ends_certificate(&node, 100), "a node that muster set down loses its certificate");
}

/* All nodes have a fault at once. Each publishes it before it checks the others. */
static void test_published_faults(void)
{
    char extras[NODES][100], note[80];
    struct cluster_node nodes[NODES];
    struct cluster cluster = nodes_make(nodes);

    health_note(muster_reason, 500, note, sizeof note);
    for (int i = 0; i < NODES; i++) {
        snprintf(extras[i], sizeof extras[i], "{\"rack\":3,\"muster_fault\":\"%s\"}", note);
        nodes[i].leaf = -1;
    }
    ok(health_is_noted(extras[0], "muster: link_down eth1 2026-11-21", 500),
       "a published fault is found");
    ok(!health_is_noted(extras[0], muster_reason, 501), "... not for a fault that began after it");
    ok(!health_is_noted(extras[0], "muster: link_down eth2 2026-11-21", 0),
       "... not for another fault");
    ok(!health_is_noted("{\"muster_fault\":\"soon\"}", muster_reason, 0),
       "... not in a text without a time");
    ok(!health_is_noted("{\"muster_fault\":\"\"}", muster_reason, 0) &&
           !health_is_noted("", muster_reason, 0),
       "... not in an empty text");

    for (int i = 1; i <= 6; i++)
        nodes[i].extra = extras[i];
    is_int(health_decide(&cluster, "n9", muster_reason, 500, NODES), HEALTH_COMMON_FAULT,
           "a fault that more than a tenth of the nodes publish drains none");
    nodes[6].extra = NULL;
    is_int(health_decide(&cluster, "n9", muster_reason, 500, NODES), HEALTH_DRAIN,
           "... a fault that fewer nodes publish does");
    nodes[9].extra = extras[9];
    is_int(health_decide(&cluster, "n9", muster_reason, 500, NODES), HEALTH_DRAIN,
           "... the node's own note does not count");
    nodes[6].extra = extras[6];
    is_int(health_decide(&cluster, "n9", muster_reason, 500 + ALIKE_DRAINS_S + 1, NODES),
           HEALTH_DRAIN, "... a note from long before its fault began is another event");
}

int main(void)
{
    test_hard_faults();
    ends_certificates();
    test_decisions();
    test_leaves();
    test_clouds();
    drains_what_fails_weeks_after_others();
    test_published_faults();
    return tap_done();
}
