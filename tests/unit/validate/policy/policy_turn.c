/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/turn.h"

#include <string.h>

#include "tests/unit/tap.h"

/* Returns which nodes are chosen, such as "0110". */
static const char *chosen_text(struct turn_node *nodes, size_t count, size_t room)
{
    static char text[32];
    size_t returned = turn_choose(nodes, count, room), counted = 0;

    for (size_t i = 0; i < count; i++) {
        text[i] = nodes[i].is_chosen ? '1' : '0';
        counted += nodes[i].is_chosen;
    }
    text[count] = '\0';
    return returned == counted ? text : "miscounted";
}

static void test_turns(void)
{
    struct turn_node nodes[5] = {{.certified_until = 500},
                                 {.certified_until = 200},
                                 {.is_busy = true},
                                 {.certified_until = 0},
                                 {.is_drained = true, .certified_until = 900}};

    is_str(chosen_text(nodes, 5, 10), "11011",
           "with room for all all but the busy node are chosen");
    is_str(chosen_text(nodes, 5, 2), "00011",
           "the drained node comes first, then the uncertified one");
    is_str(chosen_text(nodes, 5, 3), "01011", "then the one whose certificate ends first");
    is_str(chosen_text(nodes, 5, 0), "00000", "without room none is chosen");
    is_str(chosen_text(nodes, 5, 1), "00000",
           "with room for one none is chosen, since links need two");
    is_str(chosen_text(nodes, 2, 1), "00", "... also of two");
    is_str(chosen_text(nodes, 1, 1), "1", "unless there is only one");
    is_str(chosen_text(nodes + 2, 1, 5), "0", "a busy node is not chosen");
    memset(nodes, 0, sizeof nodes);
    is_str(chosen_text(nodes, 5, 2), "11000", "equal nodes in order");
    nodes[0].is_partner = nodes[1].is_partner = nodes[3].is_partner = true;
    nodes[2].certified_until = 900;
    is_str(chosen_text(nodes, 5, 3), "10101", "partners come after the nodes to test");
}

static void leaves_room_for_nodes_in_service(void)
{
    struct turn_node nodes[6] = {
        {.is_drained = true, .since = 300}, {.is_drained = true, .since = 100},
        {.is_drained = true, .since = 200}, {.is_drained = true, .since = 400},
        {.certified_until = 500},           {.certified_until = 200}};

    is_str(chosen_text(nodes, 6, 4), "011011", "half of the room is for nodes in service");
    is_str(chosen_text(nodes, 6, 2), "010001", "the rest is for those drained longest ago");
    is_str(chosen_text(nodes, 5, 4), "11101",
           "room that nodes in service leave is for drained ones");
    is_str(chosen_text(nodes, 4, 2), "0110", "all of it if none is in service");
    nodes[4].is_partner = nodes[5].is_partner = true;
    is_str(chosen_text(nodes, 6, 4), "111100", "no room is kept for partners");
}

/* Nodes of one event were drained in the same second. */
static void orders_by_certificates_what_waits_as_long(void)
{
    struct turn_node nodes[] = {{.is_drained = true, .since = 100, .certified_until = 200},
                                {.is_drained = true, .since = 100, .certified_until = 500},
                                {.is_drained = true, .since = 100, .certified_until = 300}};

    is_str(chosen_text(nodes, 3, 2), "101", "of nodes drained together those that expire first");
    for (int i = 0; i < 3; i++)
        nodes[i] = (struct turn_node){.since = 300 - i, .certified_until = 200 + i};
    is_str(chosen_text(nodes, 3, 2), "110", "of nodes in service, too, whenever they were drained");
}

static void test_due_certificates(void)
{
    ok(turn_is_due(0, 1000, 10), "a node without a certificate is due");
    ok(turn_is_due(900, 1000, 10), "... and so is an expired one");
    ok(turn_is_due(1009, 1000, 10), "... and one that ends soon");
    ok(!turn_is_due(1010, 1000, 10), "a certificate that lasts is not due");
}

/* A week's certificate, and a timer that fires each night within 90 minutes. Checks that the
 * node has another certificate in time if it is busy on the first night on which it is due. */
static void renews_in_time_after_a_busy_night(void)
{
    enum { NIGHT_S = 86400, SPREAD_S = 5400, RUN_S = 1500 };
    static const int spreads[] = {0, SPREAD_S / 2, SPREAD_S};
    static const int divisors[] = {3, 9, 27}; /* three nights in a row each have their own spread */
    int lapses = 0, early = 0;

    for (int i = 0; i < 81; i++) {
        double issued = spreads[i % 3] + RUN_S, until = issued + 7.0 * NIGHT_S, renewed = 0;
        int nights_due = 0;

        for (int night = 1; night <= 7 && renewed == 0; night++) {
            double now = (double)night * NIGHT_S + spreads[i / divisors[night % 3] % 3];

            nights_due += turn_is_due(until, now, turn_ahead_s(7.0 * NIGHT_S));
            if (nights_due == 2)
                renewed = now + RUN_S;
            early += nights_due > 0 && night < 5;
        }
        lapses += renewed == 0 || renewed > until;
    }
    is_int(lapses, 0, "a node that is busy on one night is certified again in time");
    is_int(early, 0, "... and none in the first days");
}

/* The same timer with certificates of 26 hours to a week, one after the other. */
static void renews_in_time_with_any_validity(void)
{
    enum { HOUR_S = 3600, SPREAD_S = 5400, RUN_S = 1500 };
    int lapses = 0, at_once = 0;

    for (int hours = 26; hours <= 168; hours++) {
        double valid_s = (double)hours * HOUR_S, until = 0;

        for (int night = 0; night < 100; night++) {
            double now = night * 24.0 * HOUR_S + night * 7 % 3 * SPREAD_S / 2.0;

            if (!turn_is_due(until, now, turn_ahead_s(valid_s)))
                continue;
            lapses += until > 0 && now + RUN_S > until;
            until = now + RUN_S + valid_s;
            at_once += turn_is_due(until, now + valid_s / 3, turn_ahead_s(valid_s));
        }
    }
    is_int(lapses, 0, "certificates of 26 hours and longer are renewed in time");
    is_int(at_once, 0, "... and not within the first third of their validity");
}

static void test_jitter(void)
{
    is_int((long)turn_jitter_s(100, 0), 0, "jitter begins at zero");
    is_int((long)turn_jitter_s(100, UINT32_MAX), 100, "... and reaches the maximum");
    is_int((long)turn_jitter_s(100, UINT32_MAX / 4 * 3), 74, "... in proportion");
    is_int((long)turn_jitter_s(0, UINT32_MAX), 0, "without a maximum there is none");
}

int main(void)
{
    test_turns();
    leaves_room_for_nodes_in_service();
    orders_by_certificates_what_waits_as_long();
    test_due_certificates();
    renews_in_time_after_a_busy_night();
    renews_in_time_with_any_validity();
    test_jitter();
    return tap_done();
}
