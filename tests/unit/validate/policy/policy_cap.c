/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/cap.h"

#include "tests/unit/tap.h"

static void test_counted_drains(void)
{
    static char muster_reason[] = "muster: links eth1 98 of 940 Mb/s 2026-11-20",
                admin_reason[] = "replace PSU", prolog[] = "Prolog error", none[] = "";
    struct cluster_node nodes[] = {{.reason = muster_reason, .is_drained = true},
                                   {.reason = muster_reason, .is_down = true},
                                   {.reason = admin_reason, .is_drained = true},
                                   {.reason = muster_reason},
                                   {.reason = prolog, .is_drained = true},
                                   {.reason = prolog},
                                   {.reason = none, .is_down = true}};

    is_int(cap_count(&(struct cluster){.nodes = nodes, .node_count = 7}), 3,
           "nodes drained or down for muster's reasons or a failed prolog count, and no others");
    ok(!cap_is_drained_by_muster(&nodes[4]) && cap_counts_node(&nodes[4]),
       "... a failed prolog counts, but the drain is not muster's");
}

/* 10 % of 2,000 nodes that a cloud may create would be more than the 100 nodes that exist. */
static void test_clouds(void)
{
    struct cluster_node nodes[] = {{.is_idle = true},
                                   {.is_absent = true},
                                   {.is_cloud = true},
                                   {.is_cloud = true, .is_absent = true},
                                   {.is_cloud = true, .is_absent = true}};

    is_int(cap_base(&(struct cluster){.nodes = nodes, .node_count = 5}), 3,
           "nodes that a cloud has not created are not in the base of the share");
}

static size_t cap_of(size_t count, double percent, size_t least)
{
    static struct cluster_node nodes[1000];

    return cap_nodes(&(struct cluster){.nodes = nodes, .node_count = count}, percent, least);
}

int main(void)
{
    test_counted_drains();
    test_clouds();
    is_int(cap_of(4, 25, CAP_DRAINS_LEAST), 1, "a quarter of 4");
    is_int(cap_of(5, 25, CAP_DRAINS_LEAST), 2, "a quarter of 5, rounded up");
    is_int(cap_of(1000, 25, CAP_DRAINS_LEAST), 250, "a quarter of 1000");
    is_int(cap_of(100, 0, CAP_DRAINS_LEAST), 1, "at least one node may be drained");
    is_int(cap_of(1000, 10, CAP_DRAINS_LEAST), 100,
           "a tenth of 1000 is not raised by a rounding error");
    is_int(cap_of(16, 5, CAP_TESTS_LEAST), 2, "at least two nodes may be in tests");
    return tap_done();
}
