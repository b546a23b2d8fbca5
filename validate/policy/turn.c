/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/turn.h"

#include <math.h>
#include <stdlib.h>

#include "lib/constants/certify_constants.h"

/* Sorts by turn: busy nodes last, equal ones in their order. */
static int compare_turns(const void *left, const void *right)
{
    const struct turn_node *a = left, *b = right;

    if (a->is_busy != b->is_busy)
        return a->is_busy ? 1 : -1;
    if (a->is_partner != b->is_partner)
        return a->is_partner ? 1 : -1;
    if (a->is_drained != b->is_drained)
        return a->is_drained ? -1 : 1;
    if (a->is_drained && (a->since < b->since || b->since < a->since))
        return a->since < b->since ? -1 : 1;
    if (a->certified_until < b->certified_until || b->certified_until < a->certified_until)
        return a->certified_until < b->certified_until ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

static int compare_indexes(const void *left, const void *right)
{
    const struct turn_node *a = left, *b = right;

    return a->index < b->index ? -1 : 1;
}

size_t turn_choose(struct turn_node *nodes, size_t count, size_t room)
{
    size_t free = 0, in_service = 0, most_drained, drained = 0, chosen = 0;

    for (size_t i = 0; i < count; i++) {
        free += !nodes[i].is_busy;
        in_service += !nodes[i].is_busy && !nodes[i].is_drained && !nodes[i].is_partner;
        nodes[i].is_chosen = false;
        nodes[i].index = i;
    }
    if (room < 2 && free >= 2)
        return 0;
    most_drained = room - (in_service < room / 2 ? in_service : room / 2);
    qsort(nodes, count, sizeof *nodes, compare_turns);
    for (size_t i = 0; i < free && chosen < room; i++) {
        if (nodes[i].is_drained && drained++ >= most_drained)
            continue;
        nodes[i].is_chosen = true;
        chosen++;
    }
    qsort(nodes, count, sizeof *nodes, compare_indexes);
    return chosen;
}

double turn_ahead_s(double valid_s)
{
    return fmin(CERTIFY_DUE_S, CERTIFY_DUE_SHARE * valid_s);
}

bool turn_is_due(double certified_until, double now, double ahead_s)
{
    return certified_until < now + ahead_s;
}

double turn_jitter_s(double most_s, uint32_t random)
{
    return most_s * (double)random / (double)UINT32_MAX;
}
