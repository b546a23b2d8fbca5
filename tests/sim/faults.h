/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SIM_FAULTS_H
#define MUSTER_SIM_FAULTS_H

#include <stdbool.h>

#include "tests/sim/fabric.h"
#include "tests/sim/stream.h"
#include "validate/localization/findings/findings.h"

/* Faults that are injected, and whether findings name them. */

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
    bool is_found, is_right;               /* a part at its place is named; exactly that part */
};

extern const char *const fault_names[FAULT_KINDS];

/* Injects a fault of the kind at a place without one where no other fault hides it, such as that of
 * a whole leaf. stated: leaves according to topology.conf, which MISPLACED makes wrong. Returns
 * false if there is no such place. */
bool fault_inject(struct fabric *fabric, int *stated, enum fault_kind kind, struct fault *faults,
                  int *count, uint64_t *random);

/* Marks the faults that the findings name. Returns the number of failing findings that name a part
 * without a fault. */
int fault_match(const struct finding *findings, int finding_count, struct fault *faults, int count,
                void (*print)(const struct finding *finding));

#endif
