/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links.h"
#include "tests/unit/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A fabric of n nodes with two rails at 200 Mb/s, two leaves, and what the test does to it. */
enum { NODES = 8, RAILS = 2 };
static char names[NODES][8];
static const char *node_names[NODES], *const rail_names[] = {"eth1", "eth2"};
static const char *const block_names[] = {"leaf1", "leaf2", "leaf3", "leaf4"};
static int blocks[NODES];
static double nominal[NODES * RAILS];
static struct link_sample samples[NODES * NODES * RAILS + 64];
static struct links links;
static const struct links_limits limits = {80, 85, 5};
static struct finding *findings;
static int found;

static void healthy(size_t nodes, int leaves)
{
    links = (struct links){.node_count = nodes,
                           .rail_count = RAILS,
                           .nodes = node_names,
                           .rails = rail_names,
                           .blocks = leaves ? blocks : NULL,
                           .block_names = block_names,
                           .nominal_mbps = nominal,
                           .samples = samples};
    for (size_t i = 0; i < nodes; i++) {
        snprintf(names[i], sizeof names[i], "n%zu", i + 1);
        node_names[i] = names[i];
        blocks[i] = leaves ? (int)(i * (size_t)leaves / nodes) : 0;
    }
    for (size_t i = 0; i < nodes * RAILS; i++)
        nominal[i] = 200;
    for (int rail = 0; rail < RAILS; rail++)
        for (int from = 0; from < (int)nodes; from++)
            for (int to = 0; to < (int)nodes; to++)
                if (from != to) {
                    /* a deterministic ripple of +-1 % */
                    double ripple = 1 + 0.01 * ((from * 7 + to * 3 + rail) % 3 - 1);

                    samples[links.sample_count++] =
                        (struct link_sample){from, to, rail, 196 * ripple, 40 * ripple};
                }
}

/* Multiplies the bandwidth of the samples that match; -1 matches any. */
static void slow(int from, int to, int rail, double factor)
{
    for (size_t i = 0; i < links.sample_count; i++)
        if ((from < 0 || samples[i].from == from) && (to < 0 || samples[i].to == to) &&
            (rail < 0 || samples[i].rail == rail))
            samples[i].mbps *= factor;
}

static void slow_node(int node, int rail, double factor)
{
    slow(node, -1, rail, factor);
    slow(-1, node, rail, factor);
}

static void slow_leaves(int a, int b, double factor)
{
    for (size_t i = 0; i < links.sample_count; i++) {
        int from = blocks[samples[i].from], to = blocks[samples[i].to];

        if ((from == a && (b < 0 ? to != a : to == b)) ||
            (to == a && (b < 0 ? from != a : from == b)))
            samples[i].mbps *= factor;
    }
}

static void judge(int expected, const char *what)
{
    free(findings);
    found = links_judge(&links, &limits, &findings);
    if (!is_int(found, expected, "%s: %d finding(s)", what, expected))
        for (int i = 0; i < found; i++)
            tap_diag("%s: %s", findings[i].node < 0 ? "-" : node_names[findings[i].node],
                     findings[i].message);
}

static void is_rail(int index, int node, int rail, const char *direction)
{
    if (index >= found) {
        ok(0, "there is a finding %d", index);
        return;
    }
    is_int(findings[index].kind, FINDING_RAIL, "... a node's rail");
    is_int(findings[index].node, node, "... of n%d", node + 1);
    is_int(findings[index].rail, rail, "... %s", rail_names[rail]);
    is_str(findings[index].direction, direction, "... that %s", direction);
    is_int(findings[index].verdict, VERDICT_FAIL, "... fails");
}

int main(void)
{
    struct link_pair pairs[8];
    size_t count;

    healthy(4, 2);
    judge(0, "healthy");
    is_near(links_figure(&links, 0, 0), 196, 3, "the figure of a healthy rail");

    healthy(4, 2);
    slow_node(2, 0, 0.25);
    judge(1, "slow rail");
    is_rail(0, 2, 0, "both ways");
    is_near(findings[0].value, 49, 1, "... with its figure");
    has_str(findings[0].message, "of 200 Mb/s (nominal), its peers 19",
            "... and what it should be");
    count = links_suspect_pairs(&links, findings, (size_t)found, pairs, 8);
    is_int(count, 2, "... is confirmed with two partners");
    ok(pairs[0].from == 2 && pairs[1].from == 2 && pairs[0].to != pairs[1].to,
       "... that are not the same");

    healthy(4, 2);
    slow(2, -1, 1, 0.5);
    judge(1, "slow in one direction");
    is_rail(0, 2, 1, "sends");

    healthy(4, 2);
    slow(-1, 2, 1, 0.5);
    judge(1, "slow in the other direction");
    is_rail(0, 2, 1, "receives");

    healthy(4, 2);
    slow_leaves(0, 1, 0.25);
    judge(1, "slow uplink");
    is_int(findings[0].kind, FINDING_UPLINK, "... is the uplink");
    is_str(findings[0].part, "uplink leaf1-leaf2", "... by its name");
    is_int(findings[0].node, -1, "... and no node");
    count = links_suspect_pairs(&links, findings, (size_t)found, pairs, 8);
    is_int(count, 2, "... is confirmed by two pairs across");

    healthy(4, 2);
    slow_leaves(0, 1, 0.4);
    slow_node(3, 1, 0.25);
    judge(3, "slow uplink and slow rail");
    is_rail(0, 3, 1, "both ways");
    is_int(findings[1].kind, FINDING_UPLINK, "... and the uplink");
    is_int(findings[2].node, 2, "... and n3, whose only partner on this side is n4,");
    is_int(findings[2].verdict, VERDICT_UNKNOWN, "... cannot be vouched for");

    healthy(4, 2);
    slow(0, 2, 0, 0.3);
    slow(2, 0, 0, 0.3);
    judge(1, "slow pair");
    is_int(findings[0].kind, FINDING_PAIR, "... is a path");
    is_str(findings[0].part, "path n1-n3 eth1", "... between the two");
    count = links_suspect_pairs(&links, findings, (size_t)found, pairs, 8);
    is_int(count, 1, "... which is measured once more");

    healthy(4, 2);
    slow_node(1, 0, 0.0);
    judge(1, "no connection");
    is_rail(0, 1, 0, "both ways");
    has_str(findings[0].message, "no connection with any partner", "... is said so");

    healthy(4, 0);
    slow_node(0, 0, 0.25);
    slow_node(1, 1, 0.25);
    judge(2, "two nodes, topology not known");
    is_rail(0, 0, 0, "both ways");
    is_rail(1, 1, 1, "both ways");

    healthy(8, 4);
    slow_leaves(2, -1, 0.3);
    judge(1, "the uplink of one of four leaves");
    is_str(findings[0].part, "uplink leaf3", "... is named");

    healthy(8, 4);
    slow_leaves(0, 3, 0.3);
    judge(1, "the path between two of four leaves");
    is_str(findings[0].part, "uplink leaf1-leaf4", "... is named");

    healthy(2, 0);
    slow(-1, -1, 0, 0.25);
    judge(2, "two nodes that are slow with each other");
    for (int i = 0; i < found; i++) {
        is_int(findings[i].kind, FINDING_AMBIGUOUS, "... cannot be told apart");
        is_int(findings[i].verdict, VERDICT_UNKNOWN, "... so neither is accused");
    }

    healthy(3, 3);
    slow_leaves(0, -1, 0.25);
    judge(2, "one node on its leaf, slow on every rail");
    is_int(findings[0].kind, FINDING_AMBIGUOUS, "... may be its leaf's uplink");
    is_int(findings[0].node, 0, "... or n1");

    healthy(4, 2);
    slow(-1, -1, 0, 0.25);
    judge(1, "a rail that is slow everywhere");
    is_int(findings[0].kind, FINDING_FABRIC, "... is nobody's own");

    healthy(4, 2);
    slow(-1, -1, 0, 0.5);
    slow_node(2, 0, 0.5);
    judge(2, "a rail that is slow everywhere, and one node slower");
    is_int(findings[0].kind == FINDING_FABRIC || findings[1].kind == FINDING_FABRIC, 1,
           "... is the fabric");
    is_int(findings[0].node == 2 || findings[1].node == 2, 1, "... and the node");

    healthy(4, 2);
    for (size_t i = 0; i < links.sample_count; i++)
        if (samples[i].rail == 1 && (samples[i].from == 3 || samples[i].to == 3))
            samples[i].mbps = samples[i].latency_us = NAN;
    judge(1, "a rail that was not measured");
    is_int(findings[0].kind, FINDING_MISSING, "... is missing");
    is_int(findings[0].verdict, VERDICT_UNKNOWN, "... and unknown, never a pass");
    ok(isnan(links_figure(&links, 3, 1)), "... without a figure");

    healthy(4, 2);
    for (int i = 0; i < 8; i++)
        nominal[i] = NAN;
    slow_node(2, 0, 0.8);
    judge(1, "nominal not known");
    is_rail(0, 2, 0, "both ways");
    is_str(findings[0].limit_source, "peers", "... by its peers");

    healthy(4, 2);
    for (size_t i = 0; i < links.sample_count; i++)
        if (samples[i].rail == 0 && (samples[i].from == 1 || samples[i].to == 1))
            samples[i].latency_us = 900;
    judge(1, "slow to answer");
    is_str(findings[0].metric, "latency", "... is a finding of latency");
    is_int(findings[0].verdict, VERDICT_WARN, "... and a warning");

    healthy(4, 2);
    slow_node(2, 0, 0.25);
    for (int to = 0; to < 4; to++)
        if (to != 2) {
            samples[links.sample_count++] = (struct link_sample){2, to, 0, 196, 40};
            samples[links.sample_count++] = (struct link_sample){to, 2, 0, 196, 40};
        }
    judge(0, "a second measurement that is good replaces the first");
    free(findings);
    return tap_done();
}
