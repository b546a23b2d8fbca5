/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/report/kinds.h"

#include <stdio.h>

#include "lib/base/text.h"
#include "tests/unit/tap.h"

/* What is reported of rails that are not alike on all nodes. */

static char reported[600];

static void note(struct record *record, void *context)
{
    text_join(reported, sizeof reported, "|", "%s %s: %s", verdict_name(record->verdict),
              record->node, record->message);
}

const struct record_sink output_sink = {note, NULL};

static void check(const int mtus[4], const char *expected, const char *what)
{
    const char *names[] = {"n1", "n2", "n3", "n4"};
    struct program program = {.node_name = names, .node_count = 4};
    struct rail_kinds kinds[4];

    for (int node = 0; node < 4; node++)
        kinds[node] = (struct rail_kinds){
            .count = 1,
            .rails = {{.name = "eth1", .mtu_bytes = mtus[node], .class = FABRIC_ETHERNET}}};
    *reported = '\0';
    kinds_report(&program, kinds);
    is_str(reported, expected, "%s", what);
}

int main(void)
{
    check((int[]){9000, 9000, 9000, 9000}, "", "nodes that are alike have no report");
    check((int[]){9000, 1500, 9000, 9000}, "fail n2: eth1 has MTU 1500, but 3 of 4 nodes have 9000",
          "a node that differs fails");
    check((int[]){9000, 1500, 1500, -1}, "fail n1: eth1 has MTU 9000, but 2 of 3 nodes have 1500",
          "... also if one is not known");
    check((int[]){8000, 8000, 9000, 9000},
          "unknown n1: eth1 has MTU 8000, but no MTU has a majority of the nodes|"
          "unknown n2: eth1 has MTU 8000, but no MTU has a majority of the nodes|"
          "unknown n3: eth1 has MTU 9000, but no MTU has a majority of the nodes|"
          "unknown n4: eth1 has MTU 9000, but no MTU has a majority of the nodes",
          "without a majority each node is unknown, and none differs from itself");
    return tap_done();
}
