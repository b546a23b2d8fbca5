/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/turn.h"

#include <math.h>

#include "lib/constants/certify_constants.h"

/* Whether a goes before b. Equal ones stay in their order. */
static bool is_before(const struct turn_node *a, const struct turn_node *b)
{
    if (a->is_partner != b->is_partner)
        return b->is_partner;
    if (a->is_drained != b->is_drained)
        return a->is_drained;
    return a->certified_until < b->certified_until;
}

size_t turn_choose(struct turn_node *nodes, size_t count, size_t room)
{
    size_t free = 0, chosen = 0;

    for (size_t i = 0; i < count; i++) {
        free += !nodes[i].is_busy;
        nodes[i].is_chosen = false;
    }
    if (room < 2 && free >= 2)
        return 0;
    while (chosen < room && chosen < free) {
        struct turn_node *next = NULL;

        for (size_t i = 0; i < count; i++)
            if (!nodes[i].is_busy && !nodes[i].is_chosen && (!next || is_before(&nodes[i], next)))
                next = &nodes[i];
        next->is_chosen = true;
        chosen++;
    }
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
