/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/choose/others.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/constants/certify_constants.h"
#include "validate/slurm/runs.h"

double certify_delay_s(double most_s)
{
    uint32_t salt = (uint32_t)getpid() * 2654435761U;

    if (getrandom(&salt, sizeof salt, GRND_NONBLOCK) != (ssize_t)sizeof salt)
        salt ^= (uint32_t)time(NULL);
    return turn_jitter_s(most_s, salt);
}

static bool is_own(const struct certify *certify, const struct cluster_run *run)
{
    return strcmp(run->run, certify->run) == 0;
}

/* Describes the run: "run 2026... of host head2 tests it since 12:03 UTC". what: the nodes, or
 * "it". */
static void run_describe(const struct cluster_run *run, const char *what, char *text, size_t size)
{
    char since[32];

    text_time(since, sizeof since, "%H:%M UTC", run->since);
    if (run->has_job)
        text_put(text, size, "run %s of host %s tests %s since %s", run->run, run->host, what,
                 since);
    else
        text_put(text, size, "reservation " CLUSTER_RUN "%s holds %s since %s", run->run, what,
                 since);
}

/* Leaves alone the nodes that the other run holds. */
static void nodes_exclude(struct certify *certify, const struct cluster_run *run)
{
    struct name_index held;
    char text[200];

    if (hostlist_index(&run->nodes, &held) != 0)
        return;
    run_describe(run, "it", text, sizeof text);
    for (size_t i = 0; i < certify->count; i++)
        if (name_index_has(&held, certify->node_runs[i].name)) {
            struct plan *plan = &certify->node_runs[i].plan;

            plan->role = ROLE_SKIP;
            text_put(plan->message, sizeof plan->message, "left alone: %s", text);
        }
    name_index_clear(&held);
}

/* Notes which run holds nodes that this run could have had. */
static void run_note(struct certify *certify, const struct cluster_run *run)
{
    struct hostlist named = {0}, shared = {0};
    bool has_names =
        certify->options.nodes && hostlist_expand(certify->options.nodes, &named, NULL) == 0;
    const struct hostlist *nodes = has_names ? &shared : &run->nodes;
    char text[400];

    if (has_names)
        hostlist_split(&run->nodes, &named, &shared, NULL);
    if (nodes->count > 0) {
        run_describe(run, hostlist_text(nodes).text, text, sizeof text);
        certify_note(certify, "left alone: %s", text);
    }
    hostlist_clear(&named);
    hostlist_clear(&shared);
}

void certify_others(struct certify *certify, struct hostlist *busy)
{
    struct cluster_run *runs = NULL;
    struct error err = {""};
    int count = certify->operations->runs(certify->battery.uid, &runs, &err);

    if (count < 0)
        certify_note(certify, "cannot tell whether another host tests the same nodes: %s",
                     err.text);
    for (int i = 0; i < count; i++) {
        if (is_own(certify, &runs[i]))
            continue;
        run_note(certify, &runs[i]);
        nodes_exclude(certify, &runs[i]);
        hostlist_unite(busy, &runs[i].nodes);
    }
    cluster_runs_free(runs, count);
}

enum hold {
    HOLD_NONE,
    HOLD_UNSETTLED, /* another run requests them as well, or it is not known */
    HOLD_TAKEN      /* another run has begun there */
};

/* Returns whether another run holds one of the nodes; err then names both. */
static enum hold hold_of(const struct certify *certify, const struct hostlist *names,
                         struct error *err)
{
    enum hold hold = HOLD_NONE;
    struct cluster_run *runs = NULL;
    int count = certify->operations->runs(certify->battery.uid, &runs, err);
    struct name_index ours;

    if (count < 0)
        return HOLD_UNSETTLED;
    if (hostlist_index(names, &ours) != 0) {
        error_set(err, "out of memory for %zu nodes", names->count);
        hold = HOLD_UNSETTLED;
    }
    for (int i = 0; i < count && hold == HOLD_NONE; i++)
        for (size_t k = 0; k < runs[i].nodes.count && !is_own(certify, &runs[i]); k++)
            if (name_index_has(&ours, runs[i].nodes.names[k])) {
                char text[200];

                run_describe(&runs[i], runs[i].nodes.names[k], text, sizeof text);
                error_set(err, "%s; next: certify once it has ended", text);
                hold = runs[i].has_job ? HOLD_TAKEN : HOLD_UNSETTLED;
                break;
            }
    name_index_clear(&ours);
    cluster_runs_free(runs, count);
    return hold;
}

/* Runs that began together are to try again at different times. */
static void wait_again(struct certify *certify)
{
    double begin = clock_s(), delay_s = certify_delay_s(CERTIFY_AGAIN_S);

    while (!certify_stop && clock_s() - begin < delay_s) {
        progress_tick(&certify->progress);
        usleep(50000);
    }
}

int certify_reserve(struct certify *certify, const struct hostlist *names, int minutes,
                    struct error *err)
{
    char *folded = hostlist_fold_for_slurm(names);
    double begin = clock_s();
    int rv = folded ? undo_note_reservation(&certify->undo, certify->reservation, folded, err)
                    : error_set(err, "no memory");

    while (rv == 0) {
        enum hold hold = hold_of(certify, names, err);

        if (hold == HOLD_NONE) {
            rv = certify->operations->reserve(certify->reservation, folded, certify->battery.name,
                                              minutes, err);
            if (rv != 0)
                break;
            /* a run that looked at the same time has its reservation by now, or will see ours */
            hold = hold_of(certify, names, err);
            if (hold == HOLD_NONE)
                break;
            rv = certify->operations->unreserve(certify->reservation, err);
        }
        if (hold == HOLD_TAKEN || clock_s() - begin > CERTIFY_YIELD_S || certify_stop)
            rv = -1;
        if (rv != 0)
            break;
        progress_doing(&certify->progress, "%s", err->text);
        wait_again(certify);
    }
    free(folded);
    return rv;
}
