/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/idle.h"

#include <math.h>

#include "lib/constants/policy_constants.h"
#include "tests/unit/tap.h"

static const double now = 1e9, valid_s = 7 * 86400;

/* Returns a free node. age: time since its last test, as a share of a certificate's validity. */
static struct idle_node node_of(double age, unsigned faults, unsigned warnings, unsigned jobs)
{
    double then = now - age * valid_s;

    return (struct idle_node){.tested = then,
                              .tried = then,
                              .faults = faults,
                              .warnings = warnings,
                              .jobs = jobs,
                              .is_free = true};
}

static void check_score(struct idle_node node, double expected, const char *name)
{
    double score = idle_score(&node, now, valid_s);

    ok(fabs(score - expected) < 1e-6, "%s: %.3f", name, score);
}

static void test_scores(void)
{
    check_score((struct idle_node){0}, 2, "a node that was never tested");
    check_score(node_of(0.25, 0, 0, 0), 0.25, "a node without a history scores its age");
    check_score(node_of(9, 0, 0, 0), 2, "... up to a limit");
    check_score(node_of(-1, 5, 0, 0), 0, "a test time in the future counts as now");
    check_score(node_of(0.5, 2, 0, 0), 0.75, "faults and repairs raise the score");
    check_score(node_of(0.5, 0, 2, 0), 0.6, "warnings raise it, too");
    check_score(node_of(0.5, 0, 0, 2), 0.6, "... and so do jobs that left something");
    check_score(node_of(0.5, 1, 1, 1), 0.725, "they add up");
    check_score(node_of(0.5, 1000, 0, 0), 1.75, "... each up to a limit");
    check_score(node_of(0, 1000, 1000, 1000), 0,
                "right after a test the score is 0, whatever the history");
}

/* Returns which nodes are chosen, such as "0110". */
static const char *chosen_text(struct idle_node *nodes, size_t count, size_t most)
{
    static char text[32];
    size_t returned = idle_choose(nodes, count, now, valid_s, most), counted = 0;

    for (size_t i = 0; i < count; i++) {
        text[i] = nodes[i].is_chosen ? '1' : '0';
        counted += nodes[i].is_chosen;
    }
    text[count] = '\0';
    return returned == counted ? text : "miscounted";
}

static void test_choices(void)
{
    struct idle_node nodes[] = {node_of(0.49, 0, 0, 0), node_of(0.6, 0, 0, 0),
                                node_of(0.3, 4, 0, 0), node_of(1.5, 0, 0, 0)};
    struct idle_node tried = node_of(1.5, 0, 0, 0), half = node_of(0.5, 0, 0, 0);

    is_str(chosen_text(nodes, 4, 4), "0111", "all nodes with a sufficient score, below the limit");
    is_str(chosen_text(&half, 1, 1), "1", "... a score that is just sufficient, too");
    is_str(chosen_text(nodes, 4, 1), "0001", "the highest score first");
    is_str(chosen_text(nodes, 4, 2), "0101", "equal scores in order");
    is_str(chosen_text(nodes, 4, 0), "0000", "none with a limit of none");
    nodes[3].is_free = false;
    is_str(chosen_text(nodes, 4, 1), "0100", "a busy node is not chosen");
    tried.tried = now - IDLE_REST_S + 1;
    is_str(chosen_text(&tried, 1, 1), "0", "a node that was tried just before is left alone");
    tried.tried = now - IDLE_REST_S;
    is_str(chosen_text(&tried, 1, 1), "1", "... for a limited time");
}

int main(void)
{
    test_scores();
    test_choices();
    return tap_done();
}
