/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SUBNET_FINDINGS_H
#define MUSTER_SUBNET_FINDINGS_H

#include "lib/base/record.h"
#include "validate/subnet/expected/topologyconf.h"
#include "validate/subnet/subnet.h"

/* The faults of a subnet, found by pure functions from the subnet and topology.conf. One fault is
 * one finding, however many ports show it. */

enum subnet_finding_kind {
    SUBNET_MISSING, /* an expected node or rail is missing */
    SUBNET_PLACE,   /* one or two cables or nodes are on a wrong switch */
    SUBNET_CROSSED, /* a node's rails are swapped */
    SUBNET_UPLINKS, /* a switch has fewer uplinks than its peers, or uplinks to other switches */
    SUBNET_RATE,    /* a link is narrower or slower than its peers, or than its ends allow */
    SUBNET_ERRORS,  /* a link's error counters */
    SUBNET_CONF,    /* topology.conf is inconsistent */
    SUBNET_NAMES,   /* several adapters have the same name */
    SUBNET_FINDING_KINDS,
};

struct subnet_finding {
    enum subnet_finding_kind kind;
    enum verdict verdict;    /* fail or warn */
    char node[64], peer[64]; /* nodes; "" if the finding is about switches only */
    char part[96];           /* "mlx5_0:1", "leaf1 port 12" */
    double value, limit;     /* cables, nodes, errors, or Mb/s of a rate; NAN: none */
    char text[600];
};

/* Returns the finding as a record of test net.topology, without a suite. The record's texts point
 * into the finding. */
struct record subnet_finding_record(const struct subnet_finding *finding);

struct subnet_findings {
    struct subnet_finding *items;
    size_t count;
    bool is_out_of_memory;
};

/* Finds all faults; findings of nodes come before those of switches. conf NULL: without
 * topology.conf nodes are compared with the nodes with which they share the switches of most rails.
 * Returns 0, or -1 if memory is out. Release with subnet_findings_clear(). */
int subnet_judge(const struct subnet *subnet, const struct topology_conf *conf,
                 struct subnet_findings *findings);
void subnet_findings_clear(struct subnet_findings *findings);

/* For the parts of subnet_judge(): adds a finding about the node and part, which may be "". The
 * caller sets its value. Never NULL: if memory is out, returns a finding that is not reported. */
struct subnet_finding *subnet_finding_add(struct subnet_findings *findings,
                                          enum subnet_finding_kind kind, enum verdict verdict,
                                          const char *node, const char *part, const char *format,
                                          ...) __attribute__((format(printf, 6, 7)));

/* A group of nodes that belong under the same switches, and these switches. */
struct subnet_group {
    const struct topology_switch *leaf; /* of topology.conf; NULL without */
    int *leaves;    /* [rail]: the switch where the rail belongs; -1: the group has no such rail, or
                       the switch is unknown */
    int *counts;    /* [rail]: the number of nodes that have the rail, on any switch */
    int node_count; /* nodes of the group in the subnet */
};

struct subnet_groups {
    struct subnet_group *groups; /* with topology.conf: its leaves, in its order */
    size_t count;
    int *group_of; /* [node of the subnet]: its group; -1: topology.conf does not have the node */
};

/* Makes the groups. Each rail of a group belongs to the switch on which more than half of the nodes
 * have it; else to the switch with the name of the leaf, or to the only switch that belongs to no
 * other group. Without topology.conf, nodes with the same switches are a group. A group that shares
 * at least half of its rails' switches with a group three times as large, or all in another order,
 * becomes part of that group. Returns 0, or -1 if memory is out. */
int subnet_groups_make(const struct subnet *subnet, const struct topology_conf *conf,
                       struct subnet_groups *groups);
void subnet_groups_clear(struct subnet_groups *groups);

/* The parts of subnet_judge(). */
void subnet_judge_presence(const struct subnet *subnet, const struct topology_conf *conf,
                           const struct subnet_groups *groups, struct subnet_findings *findings);
void subnet_judge_places(const struct subnet *subnet, const struct topology_conf *conf,
                         const struct subnet_groups *groups, struct subnet_findings *findings);
/* Checks topology.conf by itself and against the cables: duplicate names, loops, nodes in two lines
 * or in none, leaves outside the tree, several leaves that are one switch. */
void subnet_judge_conf(const struct subnet *subnet, const struct topology_conf *conf,
                       const struct subnet_groups *groups, struct subnet_findings *findings);
/* Checks the switches above the leaves of topology.conf. */
void subnet_judge_upper(const struct subnet *subnet, const struct topology_conf *conf,
                        const struct subnet_groups *groups, struct subnet_findings *findings);
void subnet_judge_uplinks(const struct subnet *subnet, struct subnet_findings *findings);
void subnet_judge_rates(const struct subnet *subnet, struct subnet_findings *findings);

/* Whether another adapter claims the same rail of the same node. i: an index in attachments. */
bool subnet_is_double(const struct subnet *subnet, size_t i);

/* Returns ", its port 7 is empty" for the first empty port between those of the leaf's nodes, else
 * for one next to them; "" if there is none. */
struct text_line subnet_free_port(const struct subnet *subnet, int leaf);

#endif
