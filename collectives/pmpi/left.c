/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/pmpi/left.h"

#include "collectives/pmpi/state.h"
#include "collectives/pmpi/types.h"

static _Thread_local struct {
    struct left call;
    unsigned forgotten;
    bool is_there;
} lasts[COLLECTIVE_KINDS];

bool left_before(enum collective_kind kind, const struct left *call)
{
    const struct left *last = &lasts[kind].call;

    return lasts[kind].is_there && last->comm == call->comm && last->counts[0] == call->counts[0] &&
           last->counts[1] == call->counts[1] && last->types[0] == call->types[0] &&
           last->types[1] == call->types[1] && last->op == call->op &&
           lasts[kind].forgotten == state_forgotten();
}

void left_note(enum collective_kind kind, const struct left *call)
{
    lasts[kind].is_there =
        !state_has_summary() && types_is_named(call->types[0]) && types_is_named(call->types[1]);
    lasts[kind].call = *call;
    lasts[kind].forgotten = state_forgotten();
}
