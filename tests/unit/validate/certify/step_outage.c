/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/step/certify_step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/constants/certify_constants.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/tap.h"
#include "validate/certify/settle/actions.h"
#include "validate/certify/step/reach_nodes.h"
#include "validate/slurm/operations.h"

/* A step on more nodes than are checked at a time. Some of its nodes fail at once. The clock and
 * the nodes' answers are simulated. */

enum { NODES = 2 * CERTIFY_WATCH_MOST };

static double outage_s; /* from this time on these nodes do not answer */
static size_t outage_from, outage_to;
static bool is_known[NODES]; /* not to answer */
static size_t asked_again;   /* number of nodes asked since the step ended */
static size_t known_in_step, known_when_judged;
static double lasting_s;

size_t __wrap_certify_reach_again(struct certify *certify, const struct hostlist *names,
                                  enum stage stage)
{
    size_t silent = 0;

    for (size_t i = 0; i < names->count; i++) {
        size_t node = (size_t)atol(names->names[i] + 1);

        if (is_known[node])
            continue; /* failed nodes are not asked again */
        asked_again++;
        is_known[node] = now_s >= outage_s && node >= outage_from && node < outage_to;
        silent += is_known[node];
    }
    return silent;
}

static size_t count_known(void)
{
    size_t count = 0;

    for (size_t i = 0; i < NODES; i++)
        count += is_known[i];
    return count;
}

void __wrap_certify_drain_silent(struct certify *certify)
{
    known_when_judged = count_known();
}

static int run_step(const struct step *step, const struct process *process,
                    struct process_result *result, struct error *err)
{
    double begin_s = now_s;

    while (!*process->stop && now_s < begin_s + lasting_s) {
        now_s += 0.5;
        process->on_line("output", false, process->context);
        process->on_tick(process->context);
    }
    known_in_step = count_known();
    asked_again = 0;
    *result = (struct process_result){.end = *process->stop ? PROCESS_STOPPED : PROCESS_EXITED};
    return 0;
}

static int run_step_on(const struct hostlist *names, bool survives_loss)
{
    static const struct cluster_operations operations = {.step_run = run_step};
    static struct certify certify;
    char name[] = "program", *program[] = {name, NULL};
    struct certify_step step = {.stage = STAGE_LINKS,
                                .nodes = names,
                                .tasks_per_node = 2,
                                .program = program,
                                .deadline_s = 600,
                                .survives_loss = survives_loss};
    struct error err;
    size_t first;

    memset(is_known, 0, sizeof is_known);
    certify = (struct certify){.operations = &operations};
    return certify_step(&certify, &step, &first, &err);
}

int main(void)
{
    struct hostlist names = {0};
    char name[32];

    for (int i = 0; i < NODES; i++) {
        snprintf(name, sizeof name, "n%d", i);
        hostlist_append(&names, name);
    }
    outage_from = CERTIFY_WATCH_MOST - 100;
    outage_to = CERTIFY_WATCH_MOST + 200;
    lasting_s = 60;

    is_int(run_step_on(&names, false), 1, "a step that loses nodes is ended");
    is_int((long)known_in_step, 100, "... when the first silent nodes are found");
    is_int((long)known_when_judged, 300,
           "... and all nodes of the outage are known before it is judged");

    outage_s = now_s + CERTIFY_WATCH_AFTER_S + 5;
    is_int(run_step_on(&names, false), 1, "a step that loses nodes between two checks is ended");
    is_int((long)known_in_step, 200, "... when the last of them are found");
    is_int((long)known_when_judged, 300, "... and nodes that had answered before are asked again");

    outage_s = 0;
    lasting_s = CERTIFY_WATCH_AFTER_S + 2;
    is_int(run_step_on(&names, true), 0, "a step that survives a loss ends by itself");
    is_int((long)known_in_step, 100, "... before its other nodes are checked");
    is_int((long)known_when_judged, 300, "... they are checked after it ends");

    outage_s = INFINITY;
    is_int(run_step_on(&names, false), 0, "a step whose nodes all answer ends by itself");
    is_int((long)asked_again, 0, "... and no node is asked again");

    hostlist_clear(&names);
    return tap_done();
}
