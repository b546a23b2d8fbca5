/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/turn.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/tap.h"

/* "0110": who is chosen. */
static const char *chosen(struct turn_node *nodes, size_t count, size_t room)
{
    static char text[32];
    size_t said = turn_choose(nodes, count, room), seen = 0;

    for (size_t i = 0; i < count; i++) {
        text[i] = nodes[i].is_chosen ? '1' : '0';
        seen += nodes[i].is_chosen;
    }
    text[count] = '\0';
    return said == seen ? text : "miscounted";
}

static void turns(void)
{
    struct turn_node nodes[5] = {{.certified_until = 500},
                                 {.certified_until = 200},
                                 {.is_busy = true},
                                 {.certified_until = 0},
                                 {.is_drained = true, .certified_until = 900}};

    is_str(chosen(nodes, 5, 10), "11011", "room for all: all but the busy one");
    is_str(chosen(nodes, 5, 2), "00011", "first the drained one, then the uncertified");
    is_str(chosen(nodes, 5, 3), "01011", "then the one that ends first");
    is_str(chosen(nodes, 5, 0), "00000", "no room");
    is_str(chosen(nodes, 5, 1), "00000", "room for one is none: links needs two");
    is_str(chosen(nodes, 1, 1), "1", "unless there is one only");
    is_str(chosen(nodes + 2, 1, 5), "0", "a busy one is not chosen");
    memset(nodes, 0, sizeof nodes);
    is_str(chosen(nodes, 5, 2), "11000", "equals in their order");
    nodes[0].is_partner = nodes[1].is_partner = nodes[3].is_partner = true;
    nodes[2].certified_until = 900;
    is_str(chosen(nodes, 5, 3), "10101", "partners after those that they are for");
}

static void dues(void)
{
    ok(turn_is_due(0, 1000, 10), "no certificate is due");
    ok(turn_is_due(900, 1000, 10), "an expired one too");
    ok(turn_is_due(1009, 1000, 10), "one that ends soon too");
    ok(!turn_is_due(1010, 1000, 10), "one that lasts is not");
}

static void jitters(void)
{
    is_int((long)turn_jitter_s(100, 0), 0, "from nothing");
    is_int((long)turn_jitter_s(100, UINT32_MAX), 100, "to all of it");
    is_int((long)turn_jitter_s(100, UINT32_MAX / 4 * 3), 74, "in proportion");
    is_int((long)turn_jitter_s(0, UINT32_MAX), 0, "none where none is wanted");
}

int main(void)
{
    turns();
    dues();
    jitters();
    return tap_done();
}
