/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <string.h>

#include "tests/unit/tap.h"
#include "validate/preflight/preflight.h"
#include "validate/slurm/step/reach.h"

/* Whether a node without an answer is at fault depends on how long it had to answer. */

volatile sig_atomic_t preflight_stop;
static enum reach_state answer_state; /* of n2 */
static bool is_timed_out;             /* else this host's kernel reported an error */
static enum verdict added_verdict;

int __wrap_reach_nodes(struct cluster_node *const *nodes, size_t count, double deadline_s,
                       const volatile sig_atomic_t *stop, struct reach *answers, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        answers[i] = (struct reach){.state = REACH_ANSWERS};
        if (strcmp(nodes[i]->name, "n2") == 0)
            answers[i] =
                (struct reach){answer_state, is_timed_out ? 2 * deadline_s : 0.01, "no answer"};
    }
    return 0;
}

void preflight_add_verdict(struct preflight *preflight, struct member *member, enum verdict verdict,
                           enum fault_code code, const char *test, const char *part,
                           const char *message)
{
    preflight->has_fault |= verdict == VERDICT_FAIL;
    member->verdict = added_verdict = verdict;
}

void preflight_set_unknown(struct preflight *preflight, const char *format, ...)
{
}

double preflight_left_s(const struct preflight *preflight)
{
    return preflight->budget_s;
}

void preflight_gpus(struct preflight *preflight)
{
}

static enum verdict verdict_of(enum reach_state seen, double budget_s)
{
    char first[] = "n1", second[] = "n2", *names[] = {first, second};
    struct cluster_node nodes[] = {{.name = first}, {.name = second}};
    struct member members[] = {{.name = first, .slurm = &nodes[0], .group = -1},
                               {.name = second, .slurm = &nodes[1], .group = -1}};
    struct preflight preflight = {.budget_s = budget_s, .names = {names, 2}, .members = members};

    answer_state = seen;
    added_verdict = VERDICT_NONE;
    preflight_run(&preflight);
    return added_verdict;
}

int main(void)
{
    is_int(verdict_of(REACH_CUT_OFF, 60), VERDICT_FAIL, "a node without an answer is at fault");
    is_timed_out = true;
    is_int(verdict_of(REACH_CUT_OFF, 60), VERDICT_FAIL, "... also one that timed out");
    is_int(verdict_of(REACH_CUT_OFF, 29), VERDICT_FAIL, "... with a budget of 29 s");
    is_int(verdict_of(REACH_CUT_OFF, 16), VERDICT_FAIL, "... and of 16 s");
    is_int(verdict_of(REACH_CUT_OFF, 14), VERDICT_UNKNOWN,
           "... with 14 s its packet may have been lost and the next one late");
    is_int(verdict_of(REACH_CUT_OFF, 5), VERDICT_UNKNOWN, "... and the same with 5 s");
    is_int(verdict_of(REACH_FROZEN, 30), VERDICT_FAIL, "a frozen slurmd is at fault");
    is_int(verdict_of(REACH_FROZEN, 29), VERDICT_UNKNOWN, "... with 29 s it may be busy");
    is_timed_out = false;
    is_int(verdict_of(REACH_CUT_OFF, 5), VERDICT_FAIL,
           "an error from the kernel counts with any budget");
    is_int(verdict_of(REACH_NO_SLURMD, 5), VERDICT_FAIL, "... and so does a refused connection");
    is_int(verdict_of(REACH_NO_MUNGE, 60), VERDICT_NONE,
           "a rejected credential may be this host's fault");
    return tap_done();
}
