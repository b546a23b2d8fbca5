/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SIM_FAULTS_H
#define MUSTER_SIM_FAULTS_H

#include <stdbool.h>

#include "tests/sim/fabric.h"
#include "tests/sim/stream.h"
#include "validate/localization/findings/findings.h"

/* What is injected, and whether a finding names it. */

enum fault_kind {
    FAULT_RAIL,
    FAULT_SENDS,
    FAULT_RECEIVES,
    FAULT_DEAD,
    FAULT_NODE,
    FAULT_HOST,
    FAULT_INTERMITTENT,
    FAULT_PAIR,
    FAULT_LEAF,
    FAULT_UPLINK,
    FAULT_CABLE, /* one of several of an uplink */
    FAULT_TRUNK, /* between two leaves of a mesh */
    FAULT_INCONSISTENT,
    FAULT_MISPLACED,
    FAULT_FABRIC,
    FAULT_KINDS,
};

struct fault {
    enum fault_kind kind;
    int node, rail, peer, leaf, peer_leaf; /* -1: does not apply */
    double share;                          /* of the healthy capacity that is left */
    double often;                          /* INTERMITTENT: of the time */
    struct stream_timing timing;           /* INTERMITTENT with a period: when */
    bool is_send_only;                     /* ... and only what its node sends */
    bool is_found, is_right; /* somebody is false_findings at its place; the part, exactly */
};

extern const char *const fault_names[FAULT_KINDS];

/* Injects a fault of the kind somewhere where none is yet, and where no other hides it: a fault of
 * a node not on a leaf that is slow as a whole. stated: blocks as topology.conf has them, which
 * MISPLACED makes wrong. Returns false when there is no place. */
bool fault_inject(struct fabric *fabric, int *stated, enum fault_kind kind, struct fault *faults,
                  int *count, uint64_t *random);

/* Marks which faults the findings name. Returns how many failing findings name a part that has no
 * fault. */
int fault_match(const struct finding *findings, int finding_count, struct fault *faults, int count,
                void (*print)(const struct finding *finding));

#endif
