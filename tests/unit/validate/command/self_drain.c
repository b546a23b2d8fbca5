/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/node/self_drain.h"

#include <stdio.h>

#include "lib/constants/checks_constants.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"
#include "tests/unit/validate/command/made_controller.h"
#include "validate/command/node/published.h"
#include "validate/health/deferred_drain.h"
#include "validate/health/unreviewed.h"

/* Tests a node that drains itself: what it asks the controller, and what it does without an
 * answer. */

enum { NODES = 40 };

static const char fault[] = "muster: link_down eth1 has no carrier 2026-11-20";

unsigned int __wrap_sleep(unsigned int seconds)
{
    return 0;
}

static char path[512], text[400];

/* Runs a check. controller then has what this check has done, and text its outcome. */
static bool run_check(const char *reason)
{
    static struct conf conf = {.drain_cap_percent = 5}; /* 2 nodes */

    controller.done[0] = '\0';
    controller.loads = controller.singles = 0;
    return self_drain("n1", reason, time(NULL), &conf, path, text, sizeof text);
}

static void publish_fault(size_t i, const char *note)
{
    snprintf(controller.nodes[i].extra, CONTROLLER_TEXT, "{\"muster_fault\":\"%lld %s\"}",
             (long long)time(NULL), note);
}

/* Writes the state that the first of two checks leaves. */
static void write_first_check(void)
{
    struct deferred_drain deferred = {.when = time(NULL)};
    char deferred_path[520];

    snprintf(deferred_path, sizeof deferred_path, "%s.spared", path);
    snprintf(deferred.reason, sizeof deferred.reason, "%s", fault);
    deferred_drain_write(deferred_path, &deferred);
}

/* In a partition with thousands of nodes a node publishes its fault, and queries a sample of
 * nodes before it queries all. */
static void test_many_nodes(void)
{
    controller_make(NODES);
    controller.peers = 2000;
    run_check("");
    is_int(controller.singles, 1, "a published fault that is gone is withdrawn");
    run_check("");
    is_int(controller.singles, 0, "... once");

    ok(run_check(fault), "a node that is the only one with its fault drains itself");
    is_int(controller.loads, 2, "... after a query of all nodes");
    ok(controller.singles > HEALTH_SAMPLE_NODES / 2, "... and before that of some of them");
    has_str(controller.nodes[0].extra, fault, "... and has published its fault");
    controller_put(0, "", 0);
    run_check("");
    is_str(controller.nodes[0].extra, "", "the published fault is removed with the fault");

    for (size_t i = 1; i < NODES; i++)
        publish_fault(i, fault);
    ok(!run_check(fault), "if other nodes published the fault the node waits for a second check");
    is_int(controller.loads, 0, "... without a query of all nodes");
    has_str(text, "not drained yet: other nodes have the same fault", "... and reports it");
    ok(!run_check(fault), "... and is not drained at the next one");
    is_int(controller.loads, 0, "... again without a query of all nodes");
    has_str(text, "not drained: many nodes have the same fault", "... and reports why");
    run_check(fault);
    is_int(controller.singles, 1, "... and does not query others again at once");
    run_check("");

    publish_fault(2, "muster: link_down eth2 has no carrier 2026-11-20");
    for (size_t i = 1; i < NODES; i++)
        if (i != 2)
            *controller.nodes[i].extra = '\0';
    ok(run_check(fault), "a different fault of others does not count");
    controller_put(0, "", 0);
    run_check("");

    /* below the share of a common fault all nodes are queried, at the second check */
    *controller.nodes[2].extra = '\0';
    publish_fault(1, fault);
    write_first_check();
    ok(run_check(fault), "a fault of one among 40 other nodes is not common");
    is_int(controller.loads, 2, "... as the query of all nodes shows");
    controller_put(0, "", 0);
    run_check("");
}

/* The gate and the certificate ask in the same process. */
static void test_silent_controller(void)
{
    struct cluster cluster = {0};
    struct error err;

    controller_make(1);
    controller.is_silent = true;
    ok(!run_check(fault), "if the controller refuses no node drains itself");
    controller.is_silent = false;
    is_int(published_load("n1", &cluster, &err), 0, "... a later query is answered");
    cluster_clear(&cluster);
    controller.is_silent = controller.is_slow = true;
    ok(!run_check(fault), "if the controller is silent no node drains itself");
    is_str(text, "not drained: no answer", "... the text says why");
    is_int(published_load("n1", &cluster, &err), -1, "... the node's record is not known later");
    is_str(err.text, "no answer", "... for the same reason");
    is_int(controller.singles, 1, "... and the controller is queried once");
}

int main(void)
{
    char *root = tree_unpack(""), deferred[520];

    snprintf(path, sizeof path, "%s/state/unreviewed", root);
    controller_make(NODES);

    /* a failed leaf switch would make all its nodes drain themselves, so the topology must be
     * known */
    controller.lacks_topology = true;
    ok(!run_check(fault), "without the topology no node drains itself");
    is_str(controller.done, "", "... and nothing is changed");
    is_str(text,
           "not drained: the nodes of its leaf switch are unknown: cannot start scontrol: No such "
           "file or directory",
           "... the text says why");
    controller.lacks_topology = false;

    ok(run_check(fault), "a node with a fault drains itself");
    is_str(controller.done, "drain n1;", "... once");
    has_str(text, "drained: muster: link_down eth1", "... the text says so");
    is_int(controller.loads, 2, "... after a query of all nodes, and before another");
    ok(run_check(fault), "at the next check it is drained");
    is_int(controller.loads, 0, "... as its own state shows");
    is_str(text, "", "... without a text");

    controller_put(0, "muster: rail_slow eth2 9 of 98 Mb/s 2026-11-19", 100);
    ok(!run_check(fault), "a node drained for another fault is not drained for this one");
    is_str(controller.done, "", "... and not again");

    controller_put(0, "replace PSU", 100);
    ok(!run_check(fault), "a drain by others does not count as this one");
    is_int(controller.loads, 0, "... as its own state shows");

    /* several nodes drain themselves at once, and the controller does not answer */
    controller_put(0, "", 0);
    controller.fails_at = 2;
    ok(run_check(fault), "a drain that cannot be reviewed stays");
    for (size_t i = 1; i < 4; i++)
        controller_put(i, fault, time(NULL) - 1);
    controller.fails_at = 1;
    ok(run_check(fault), "... at the next check too");
    is_str(controller.done, "", "... while the controller does not answer");
    has_str(controller.nodes[0].extra, fault, "... with its fault published");
    controller.fails_at = 0;
    ok(!run_check(""), "once it answers the drain is reviewed: it exceeds the cap");
    is_str(controller.done, "resume n1;", "... and taken back");
    has_str(text, "not drained: muster has drained 2 nodes", "... the text says why");
    has_str(controller.nodes[0].extra, fault,
            "... its fault stays published, as this check may not have looked for it");
    ok(!run_check("") && controller.loads == 0, "then there is nothing to review");
    is_str(controller.nodes[0].extra, "", "... and a check that finds no fault withdraws it");

    /* otherwise each node that is not drained would query all others at each of its checks */
    ok(!run_check(fault) && controller.loads == 1, "a node that exceeds the cap is not drained");
    is_str(controller.done, "", "... after a query of the others");
    ok(!run_check(fault), "... nor at the next check");
    is_int(controller.loads, 0, "... which does not query them again at once");
    has_str(text, "not drained: muster has drained 2 nodes", "... with the same text");
    run_check("muster: gpu_missing gpu3 has gone 2026-11-20");
    is_int(controller.loads, 1, "... it does for another fault");
    snprintf(deferred, sizeof deferred, "%s.spared", path);
    deferred_drain_write(deferred,
                         &(struct deferred_drain){.when = time(NULL) - NODES / HEALTH_LOOKS_PER_S,
                                                  .wait_s = NODES / HEALTH_LOOKS_PER_S,
                                                  .reason = "muster: link_down eth1 has no carrier "
                                                            "2026-11-20",
                                                  .text = "not drained"});
    run_check(fault);
    is_int(controller.loads, 1, "... and after a while, longer with more nodes");

    /* somebody else's drain for the same fault is not reviewed */
    controller_put(0, fault, time(NULL) + 4000);
    unreviewed_write(path,
                     &(struct unreviewed){.drained = time(NULL),
                                          .since = time(NULL),
                                          .reason = "muster: link_down eth1 has no carrier "
                                                    "2026-11-20"},
                     NULL);
    ok(run_check(fault) && controller.loads == 0, "a later drain is not the one to review");
    is_str(controller.done, "", "... and stays");

    /* as on a full /run: no later check would compare the drain with those of others */
    controller_make(NODES);
    snprintf(path, sizeof path, "/dev/null/unreviewed");
    ok(!run_check(fault), "a drain that cannot be noted is not made");
    is_str(controller.done, "", "... nothing is changed");
    has_str(text, "not drained: /dev/null", "... and the text says why");
    snprintf(path, sizeof path, "%s/state/unreviewed", root);

    test_many_nodes();
    test_silent_controller();
    tree_remove(root);
    return tap_done();
}
