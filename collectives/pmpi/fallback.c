/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/pmpi/fallback.h"

#include <string.h>

#include "collectives/pmpi/types.h"

static _Thread_local struct {
    struct fallback call;
    int each[FALLBACK_RANKS];
    size_t each_bytes;
    unsigned forgotten;
    bool is_there;
} lasts[FALLBACK_KINDS];

bool fallback_was_last(int kind, const struct fallback *call)
{
    const struct fallback *last = &lasts[kind].call;

    return lasts[kind].is_there && last->comm == call->comm && last->counts[0] == call->counts[0] &&
           last->counts[1] == call->counts[1] && last->types[0] == call->types[0] &&
           last->types[1] == call->types[1] && last->op == call->op &&
           lasts[kind].forgotten == state_forgotten() &&
           (call->each == NULL ||
            memcmp(lasts[kind].each, call->each, lasts[kind].each_bytes) == 0);
}

static void note(int kind, const struct fallback *call, int ranks)
{
    bool has_room = call->each == NULL || ranks <= FALLBACK_RANKS;

    lasts[kind].is_there = has_room && !state_has_summary() && types_is_named(call->types[0]) &&
                           types_is_named(call->types[1]);
    lasts[kind].call = *call;
    lasts[kind].forgotten = state_forgotten();
    if (call->each == NULL || !has_room)
        return;
    lasts[kind].each_bytes = (size_t)ranks * sizeof *call->each;
    memcpy(lasts[kind].each, call->each, lasts[kind].each_bytes);
}

int fallback_run(int kind, const struct fallback *call, struct state_comm *state,
                 struct collective_call *run)
{
    int code = state_run(state, call->comm, run);

    if (code == 1)
        note(kind, call, state->ranks);
    return code;
}
