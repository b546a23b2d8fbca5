/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/pair/overlap.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/base/clock.h"
#include "validate/battery/links/path/samples.h"

/* Where rails wait, so that they begin together. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int awaited; /* threads that have neither warmed up nor failed */
    bool is_open;
    double opened_s;
};

struct rail_run {
    struct gate *gate;
    struct channel *channel;
    const struct rail *rail;
    const struct rail_info *own, *theirs;
    struct path_plan plan;
    struct path_result path;
    struct link_result result;
    struct report mine, other;
    int own_index, path_mtu_bytes;
    bool drives, has_arrived, has_thread, is_skipped;
    pthread_t thread;
};

static void arrive(struct rail_run *rail_run)
{
    struct gate *gate = rail_run->gate;

    pthread_mutex_lock(&gate->lock);
    if (!rail_run->has_arrived)
        gate->awaited--;
    rail_run->has_arrived = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

/* Waits between warm-up and stream until the gate is open. */
static void wait_at_gate(void *context)
{
    struct rail_run *rail_run = context;
    struct gate *gate = rail_run->gate;

    arrive(rail_run);
    pthread_mutex_lock(&gate->lock);
    while (!gate->is_open)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static void *rail_main(void *argument)
{
    struct rail_run *rail_run = argument;

    if (rail_run->drives)
        pair_run_drive(rail_run->channel, rail_run->rail, &rail_run->plan, &rail_run->result,
                       &rail_run->path, &rail_run->mine);
    else
        pair_run_serve(rail_run->channel, rail_run->rail, &rail_run->plan, &rail_run->mine);
    arrive(rail_run); /* a server, or a driver that failed before the gate */
    return NULL;
}

static void gate_wait(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    while (gate->awaited > 0)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static void gate_open(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->is_open = true;
    gate->opened_s = clock_s();
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

/* Runs one direction on all rails. A server is ready at once. */
static void run(struct rail_run *rail_runs, int count, bool drives,
                const struct overlap_start *start, int direction)
{
    struct gate gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

    gate.awaited = drives ? count : 0;
    for (int i = 0; i < count; i++) {
        struct rail_run *rail_run = &rail_runs[i];

        rail_run->gate = &gate;
        rail_run->drives = drives;
        rail_run->has_arrived = !drives;
        rail_run->mine.errors = (struct errors){0};
        if (rail_run->mine.failed || rail_run->other.failed || rail_run->is_skipped) {
            arrive(rail_run);
            continue;
        }
        rail_run->has_thread = pthread_create(&rail_run->thread, NULL, rail_main, rail_run) == 0;
        if (!rail_run->has_thread)
            watch_fault("cannot start a thread for rail %s", rail_run->own->name);
    }
    gate_wait(&gate);
    if (start)
        start->wait(start->context, direction);
    gate_open(&gate);
    for (int i = 0; i < count; i++) {
        if (rail_runs[i].has_thread)
            pthread_join(rail_runs[i].thread, NULL);
        rail_runs[i].has_thread = false;
        for (int k = 0; k <= rail_runs[i].result.mark_count; k++)
            rail_runs[i].result.marks_s[k] -= gate.opened_s;
    }
}

/* Sets the bandwidth of each rail to what it carried while all of them ran. */
static void set_bandwidths(struct rail_run *rail_runs, int count)
{
    struct flow flows[PAIR_RAILS];
    double begin, end;

    for (int i = 0; i < count; i++)
        flows[i] = (struct flow){rail_runs[i].result.marks_s, rail_runs[i].result.mark_count,
                                 rail_runs[i].result.mark_bytes};
    if (!flows_window(flows, count, &begin, &end))
        return;
    for (int i = 0; i < count; i++)
        if (flows[i].mark_count > 0)
            pair_run_set_bandwidth(&rail_runs[i].result, flow_mbps(&flows[i], begin, end));
}

static int progress(void *context, struct pollfd *polled)
{
    bool can_sleep = true;
    int count = 0;

    for (struct rail_run *rail_run = context; rail_run->channel; rail_run++) {
        polled[count] = (struct pollfd){.fd = channel_arm(rail_run->channel), .events = POLLIN};
        can_sleep &= polled[count++].fd >= 0;
    }
    return can_sleep ? count : -1;
}

static void prepare(const struct pair_run *pair_run, struct rail_run *rail_run, int index,
                    int direction)
{
    rail_run->plan = *pair_run->plan;
    rail_run->plan.session = pair_run_session(pair_run, index, direction);
    rail_run->plan.begin = wait_at_gate;
    rail_run->plan.context = rail_run;
    rail_run->result = (struct link_result){
        .from = pair_run->program->node, .to = pair_run->partner, .counted_bytes = -1};
    snprintf(rail_run->result.rail, sizeof rail_run->result.rail, "%s", rail_run->own->name);
}

static void add_result(const struct pair_run *pair_run, struct rail_run *rail_run, bool is_lost)
{
    struct link_result *result = &rail_run->result;

    result->path_mtu_bytes = rail_run->path_mtu_bytes;
    pair_run_conclude(rail_run->own, rail_run->theirs, &rail_run->mine,
                      is_lost ? NULL : &rail_run->other, rail_run->is_skipped, result);
    *results_add(pair_run->results, result->from, result->to, "") = *result;
}

/* Probes each rail, and sets is_skipped of those that are not to be tried in this direction.
 * Returns 0, or -1 if the partner was lost. */
static int probe(struct pair_run *pair_run, struct rail_run *rail_runs, int count, bool drives,
                 const struct control_idle *idle)
{
    for (int i = 0; i < count; i++) {
        struct rail_run *rail_run = &rail_runs[i];
        int found = pair_run_probe(pair_run, rail_run->own_index, rail_run->theirs,
                                   rail_run->plan.session, drives, idle, &rail_run->path_mtu_bytes);

        if (found < 0)
            return -1;
        rail_run->is_skipped = found > 0;
    }
    return 0;
}

/* Measures one direction. indexes: of the rails, for the session. Returns 0, or -1 if the partner
 * was lost. */
static int measure_direction(struct pair_run *pair_run, struct rail_run *rail_runs,
                             const int *indexes, int count, int direction,
                             const struct overlap_start *start)
{
    bool drives = pair_run->is_first == (direction == 0);
    struct control_idle idle = {progress, rail_runs};
    int rv = 0;

    program_step(pair_run->program);
    for (int i = 0; i < count; i++)
        prepare(pair_run, &rail_runs[i], indexes[i], direction);
    rv = probe(pair_run, rail_runs, count, drives, &idle);
    for (int i = 0; i < count && rv != 0; i++)
        rail_runs[i].is_skipped = true;
    run(rail_runs, count, drives, start, direction);
    for (int i = 0; i < count && rv == 0; i++)
        rv = control_exchange(pair_run->control, &rail_runs[i].mine, &rail_runs[i].other,
                              sizeof rail_runs[i].mine, &idle);
    if (drives)
        set_bandwidths(rail_runs, count);
    for (int i = 0; i < count && drives; i++)
        add_result(pair_run, &rail_runs[i], rv != 0);
    return rv;
}

/* Connects the rails that both ends can drive. Returns their number. */
static int open_rails(struct pair_run *pair_run, const struct rail_infos *theirs,
                      struct rail_run *rail_runs, int *indexes)
{
    int count = 0, own, other;

    for (int i = 0; i < PAIR_RAILS; i++) {
        struct rail_run *rail_run = &rail_runs[count];
        struct error err = {""};

        if (!pair_run_rails(pair_run, theirs, i, &own, &other))
            continue;
        indexes[count++] = i;
        rail_run->channel = pair_run->rails->channels[own];
        rail_run->rail = pair_run->rails->rails[own];
        rail_run->own_index = own;
        rail_run->own = &pair_run->rails->own.rails[own];
        rail_run->theirs = &theirs->rails[other];
        if (channel_connect(rail_run->channel, rail_run->theirs->address, &err) != 0) {
            rail_run->mine.failed = 1;
            snprintf(rail_run->mine.text, sizeof rail_run->mine.text, "%.199s", err.text);
        }
    }
    return count;
}

int overlap_run(struct pair_run *pair_run, const struct overlap_start *start)
{
    struct rail_infos *theirs = pair_run_open(pair_run);
    struct rail_run *rail_runs = watch_allocate(PAIR_RAILS + 1, sizeof *rail_runs);
    int indexes[PAIR_RAILS], count, rv = theirs ? 0 : -1, direction = 0;

    count = theirs ? open_rails(pair_run, theirs, rail_runs, indexes) : 0;
    for (; direction < 2 && rv == 0; direction++)
        rv = measure_direction(pair_run, rail_runs, indexes, count, direction, start);
    for (; direction < 2; direction++)
        if (start)
            start->wait(start->context, direction);
    for (int i = 0; i < count; i++)
        channel_disconnect(rail_runs[i].channel);
    control_disconnect(pair_run->control);
    free(rail_runs);
    free(theirs);
    return rv;
}
