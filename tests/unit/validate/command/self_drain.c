/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/node/self_drain.h"

#include <stdio.h>

#include "lib/constants/checks_constants.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"
#include "tests/unit/validate/command/made_controller.h"
#include "validate/health/deferred_drain.h"
#include "validate/health/unreviewed.h"

/* Tests a node that drains itself: what it asks the controller, and what it does without an
 * answer. */

enum { NODES = 40 };

static const char fault[] = "muster: link_down eth1 has no carrier 2026-11-20";

unsigned int __wrap_sleep(unsigned int seconds);
unsigned int __wrap_sleep(unsigned int seconds)
{
    (void)seconds;
    return 0;
}

static void begin(int fails)
{
    controller.done[0] = '\0';
    controller.loads = controller.singles = 0;
    controller.fails_at = fails;
}

static bool check(const char *path, const char *reason, char text[400])
{
    static struct conf conf = {.drain_cap_percent = 5}; /* 2 nodes */

    return self_drain("n1", reason, time(NULL), &conf, path, text, 400);
}

static void note_put(size_t i, const char *note)
{
    snprintf(controller.nodes[i].extra, CONTROLLER_TEXT, "{\"muster_fault\":\"%lld %s\"}",
             (long long)time(NULL), note);
}

/* Writes the state that the first of two checks leaves. */
static void write_first_check(const char *path)
{
    struct deferred_drain deferred = {.when = time(NULL)};
    char deferred_path[520];

    snprintf(deferred_path, sizeof deferred_path, "%s.spared", path);
    snprintf(deferred.reason, sizeof deferred.reason, "%s", fault);
    deferred_drain_write(deferred_path, &deferred);
}

/* In a partition with thousands of nodes a node publishes its fault, and queries a sample of
 * nodes before it queries all. */
static void many(const char *path)
{
    char text[400];

    controller_make(NODES);
    controller.peers = 2000;
    begin(0);
    check(path, "", text);
    is_int(controller.singles, 1, "a fault that has gone is withdrawn");
    begin(0);
    check(path, "", text);
    is_int(controller.singles, 0, "... once");

    begin(0);
    ok(check(path, fault, text), "a node that is alone with its fault drains itself");
    is_int(controller.loads, 2, "... after a look at all others");
    ok(controller.singles > HEALTH_SAMPLE_NODES / 2, "... and before it at some of them");
    has_str(controller.nodes[0].extra, fault, "... and has published it");
    controller_put(0, "", 0);
    begin(0);
    check(path, "", text);
    is_str(controller.nodes[0].extra, "", "what it published goes with the fault");

    for (size_t i = 1; i < NODES; i++)
        note_put(i, fault);
    begin(0);
    ok(!check(path, fault, text), "where others have published it the node waits for one check");
    is_int(controller.loads, 0, "... without a look at all");
    has_str(text, "not drained yet: other nodes have the same fault", "... and says so");
    begin(0);
    ok(!check(path, fault, text), "... and is not drained at the next one");
    is_int(controller.loads, 0, "... which needs none either");
    has_str(text, "not drained: many nodes have the same fault", "... and says why");
    begin(0);
    check(path, fault, text);
    is_int(controller.singles, 1, "... nor does it look at others again at once");
    check(path, "", text);

    note_put(2, "muster: link_down eth2 has no carrier 2026-11-20");
    for (size_t i = 1; i < NODES; i++)
        if (i != 2)
            *controller.nodes[i].extra = '\0';
    begin(0);
    ok(check(path, fault, text), "another fault of others is none of them");
    controller_put(0, "", 0);
    check(path, "", text);

    /* below the share of a common fault all nodes are queried, at the second check */
    *controller.nodes[2].extra = '\0';
    note_put(1, fault);
    write_first_check(path);
    begin(0);
    ok(check(path, fault, text), "one of 40 others is no common fault");
    is_int(controller.loads, 2, "... as all of them say");
    controller_put(0, "", 0);
    check(path, "", text);
}

int main(void)
{
    char *root = tree_unpack(""), path[512], deferred[520], text[400];

    snprintf(path, sizeof path, "%s/state/unreviewed", root);
    controller_make(NODES);

    /* a failed leaf switch would make all its nodes drain themselves, so the topology must be
     * known */
    controller.lacks_topology = true;
    begin(0);
    ok(!check(path, fault, text), "without the topology no node drains itself");
    is_str(controller.done, "", "... nor is anything asked for");
    is_str(text,
           "not drained: the nodes of its leaf switch are unknown: cannot start scontrol: No such "
           "file or directory",
           "... and it is said why");
    controller.lacks_topology = false;

    begin(0);
    ok(check(path, fault, text), "a node with a fault drains itself");
    is_str(controller.done, "drain n1;", "... once");
    has_str(text, "drained: muster: link_down eth1", "... and says so");
    is_int(controller.loads, 2, "... after a look at the others, and before another");
    begin(0);
    ok(check(path, fault, text), "at the next check it is drained");
    is_int(controller.loads, 0, "... which its own state says");
    is_str(text, "", "... and nothing is said");

    controller_put(0, "muster: rail_slow eth2 9 of 98 Mb/s 2026-11-19", 100);
    begin(0);
    ok(!check(path, fault, text), "one that is drained for something else is not drained for it");
    is_str(controller.done, "", "... nor again");

    controller_put(0, "replace PSU", 100);
    begin(0);
    ok(!check(path, fault, text), "a drain of others is theirs");
    is_int(controller.loads, 0, "... which its own state says too");

    /* several nodes drain themselves at once, and the controller does not answer */
    controller_put(0, "", 0);
    begin(2);
    ok(check(path, fault, text), "a drain that cannot be reviewed stays");
    for (size_t i = 1; i < 4; i++)
        controller_put(i, fault, time(NULL) - 1);
    begin(1);
    ok(check(path, fault, text), "... at the next check too");
    is_str(controller.done, "", "... while the controller is silent");
    begin(0);
    ok(!check(path, "", text), "once it answers the drain is reviewed, as one too many");
    is_str(controller.done, "resume n1;", "... and taken back");
    has_str(text, "not drained: muster has drained 2 nodes", "... which is said");
    begin(0);
    ok(!check(path, "", text) && controller.loads == 0, "then there is nothing to review");

    /* otherwise each node that is not drained would query all others at each of its checks */
    begin(0);
    ok(!check(path, fault, text) && controller.loads == 1, "one too many is not drained");
    is_str(controller.done, "", "... as the others say");
    begin(0);
    ok(!check(path, fault, text), "... nor at the next check");
    is_int(controller.loads, 0, "... which does not look at them again at once");
    has_str(text, "not drained: muster has drained 2 nodes", "... and says the same");
    begin(0);
    check(path, "muster: gpu_missing gpu3 has gone 2026-11-20", text);
    is_int(controller.loads, 1, "... but for another fault");
    snprintf(deferred, sizeof deferred, "%s.spared", path);
    deferred_drain_write(deferred,
                         &(struct deferred_drain){.when = time(NULL) - NODES / HEALTH_LOOKS_PER_S,
                                                  .wait_s = NODES / HEALTH_LOOKS_PER_S,
                                                  .reason = "muster: link_down eth1 has no carrier "
                                                            "2026-11-20",
                                                  .text = "not drained"});
    begin(0);
    check(path, fault, text);
    is_int(controller.loads, 1, "... and later, the later the more nodes there are");

    /* somebody else's drain for the same fault is not reviewed */
    controller_put(0, fault, time(NULL) + 4000);
    unreviewed_write(path, &(struct unreviewed){.drained = time(NULL),
                                                .since = time(NULL),
                                                .reason = "muster: link_down eth1 has no carrier "
                                                          "2026-11-20"});
    begin(0);
    ok(check(path, fault, text) && controller.loads == 0,
       "a later drain is not the one to be reviewed");
    is_str(controller.done, "", "... and stays");

    many(path);
    tree_remove(root);
    return tap_done();
}
