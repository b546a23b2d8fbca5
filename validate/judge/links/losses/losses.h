/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_LOSSES_H
#define MUSTER_JUDGE_LOSSES_H

#include <stdbool.h>
#include <stddef.h>

/* Which part loses packets, by what TCP had to send again between each two nodes. Pure.
 *
 * A fault of a rail shows with each of its partners; one between two nodes, or two leaf switches,
 * does not. So a rail is at fault only if it loses more than the limit with two partners or more,
 * and hardly any partner shows that it does not. What most nodes have alike is no node's. */

/* One measurement, or several added up: what `from` sent to `to` on a rail. */
struct loss_sample {
    int from, to, rail; /* indices */
    double sent, lost;  /* segments */
    double damaged;     /* packets that `to` received with a wrong checksum */
    double mbps;        /* its bandwidth; NAN: none. See losses_is_congested() */
};

enum loss_kind {
    LOSS_RAIL,   /* node's rail */
    LOSS_EITHER, /* node's rail, or the path to its only partner */
    LOSS_PATH,   /* from node to peer, both good otherwise */
    LOSS_MANY,   /* most nodes alike: rail */
};

struct loss_finding {
    enum loss_kind kind;
    int node, peer, rail; /* -1: none */
    bool sends, receives; /* of the rail: which way */
    bool is_damage;       /* most of what was lost had arrived with a wrong checksum */
    double sent, lost;    /* segments in all, of those ways */
};

/* The limits, each with value, unit and source. */
enum loss_limit_name { LOSS_SHARE, LOSS_PATH_LEAST, LOSS_PAIR_LEAST, LOSS_FAST_SHARE };
struct loss_limit {
    double value;
    const char *unit, *source;
};
const struct loss_limit *losses_limit(enum loss_limit_name name);

/* Whether a stream with that bandwidth may have lost segments for want of room, as it was much
 * slower than others on that rail, the median of which is given: then its losses say nothing. */
bool losses_is_congested(double mbps, double median_mbps);

/* *findings is malloc'd, *found of them: rails first. Returns 0, or -1 when memory is out. */
int losses_judge(const struct loss_sample *samples, size_t count, int nodes, int rails,
                 struct loss_finding **findings, size_t *found);

#endif
