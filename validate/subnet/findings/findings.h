/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SUBNET_FINDINGS_H
#define MUSTER_SUBNET_FINDINGS_H

#include "lib/base/record.h"
#include "validate/subnet/subnet.h"
#include "validate/subnet/expected/topologyconf.h"

/* What is wrong with a subnet: pure functions of it and of topology.conf. One fault is one
 * finding, however many ports see it. */

enum subnet_finding_kind {
    SUBNET_MISSING, /* a node or rail that is expected is not there */
    SUBNET_PLACE,   /* a cable, node or two of them are not where they belong */
    SUBNET_CROSSED, /* a node's rails are in each other's place */
    SUBNET_UPLINKS, /* a switch has fewer cables upwards than its like, or others */
    SUBNET_RATE,    /* a link is narrower or slower than its like, or than its ends allow */
    SUBNET_ERRORS,  /* a link's error counters */
    SUBNET_CONF,    /* topology.conf says what cannot be */
    SUBNET_NAMES,   /* adapters that call themselves what others do */
    SUBNET_FINDING_KINDS,
};

struct subnet_finding {
    enum subnet_finding_kind kind;
    enum verdict verdict;    /* fail or warn */
    char node[64], peer[64]; /* nodes; "" where it is about switches only */
    char part[96];           /* "mlx5_0:1", "leaf1 port 12" */
    double value, limit;     /* cables, nodes, errors, or Mb/s of a rate; NAN: none */
    char text[600];
};

/* The finding as a record of test net.topology, without a suite. The texts stay the finding's. */
struct record subnet_finding_record(const struct subnet_finding *finding);

struct subnet_findings {
    struct subnet_finding *items;
    size_t count;
    bool is_out_of_memory;
};

/* All findings, those of nodes before those of switches. conf NULL: without topology.conf only
 * what the subnet itself makes plain is found: nodes that differ from those with most of whose
 * rails they share switches. Returns 0, or -1 when memory is out. Release with
 * subnet_findings_clear(). */
int subnet_judge(const struct subnet *subnet, const struct topology_conf *conf,
                 struct subnet_findings *findings);
void subnet_findings_clear(struct subnet_findings *findings);

/* For the parts of subnet_judge(): a new finding about that node and part, which may be "", to
 * which the caller adds a value. Never NULL: without memory it is one that nobody sees. */
struct subnet_finding *subnet_finding_add(struct subnet_findings *findings,
                                          enum subnet_finding_kind kind, enum verdict verdict,
                                          const char *node, const char *part, const char *format,
                                          ...) __attribute__((format(printf, 6, 7)));

/* Groups of nodes that belong under the same switches, and these switches. */
struct subnet_group {
    const struct topology_switch *leaf; /* of topology.conf; NULL without */
    int *leaves;    /* for each rail the switch where it belongs, -1: the group has no such rail, or
                       it cannot be told */
    int *counts;    /* for each rail how many nodes have it, wherever */
    int node_count; /* that are in the subnet */
};

struct subnet_groups {
    struct subnet_group *groups; /* those of topology.conf first, in its order */
    size_t count;
    int *group_of; /* of each node of the subnet, -1: topology.conf does not have it */
};

/* Each rail of a group belongs to the switch that more than half of its nodes have it on; where
 * there is no such switch, to the one named as the leaf is, or the only one that is no other
 * group's. Without topology.conf nodes with the
 * same switches are a group, and one that shares at least half of its rails' switches with a group
 * three times as large, or all of them in another order, belongs to that. Returns 0, or -1 when
 * memory is out. */
int subnet_groups_make(const struct subnet *subnet, const struct topology_conf *conf,
                       struct subnet_groups *groups);
void subnet_groups_clear(struct subnet_groups *groups);

/* The parts of subnet_judge(). */
void subnet_judge_presence(const struct subnet *subnet, const struct topology_conf *conf,
                           const struct subnet_groups *groups, struct subnet_findings *findings);
void subnet_judge_places(const struct subnet *subnet, const struct topology_conf *conf,
                         const struct subnet_groups *groups, struct subnet_findings *findings);
/* topology.conf by itself, as far as what is cabled tells: names twice, loops, nodes in two lines
 * or in none, leaves beside the tree, leaves that are one switch. */
void subnet_judge_conf(const struct subnet *subnet, const struct topology_conf *conf,
                       const struct subnet_groups *groups, struct subnet_findings *findings);
/* topology.conf above its leaves. */
void subnet_judge_upper(const struct subnet *subnet, const struct topology_conf *conf,
                        const struct subnet_groups *groups, struct subnet_findings *findings);
void subnet_judge_uplinks(const struct subnet *subnet, struct subnet_findings *findings);
void subnet_judge_rates(const struct subnet *subnet, struct subnet_findings *findings);

/* Whether another adapter says that it is that rail of that node too. i: a place in attachments. */
bool subnet_is_double(const struct subnet *subnet, size_t i);

/* ", its port 7 is empty", when one port among those of nodes is; else "". */
struct text_line subnet_free_port(const struct subnet *subnet, int leaf);

#endif
