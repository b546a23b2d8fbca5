/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_KINDS_H
#define MUSTER_KINDS_H

#include "validate/battery/links/pair/pair_run.h"

/* What must be alike on all nodes: of the rails of one node. */
struct rail_kinds {
    int count; /* 0: not known */
    struct {
        char name[INVENTORY_NAME];
        int mtu_bytes; /* -1: not known */
        int class;     /* enum fabric_class */
    } rails[PAIR_RAILS];
};

void kinds_note(const struct rail_infos *rail_infos, struct rail_kinds *kinds);

/* Reports a record for each rail whose MTU or kind is not that of most nodes. Without a majority
 * each rail is UNKNOWN. kinds: [node_count]. */
void kinds_report(const struct program *program, const struct rail_kinds *kinds);

#endif
