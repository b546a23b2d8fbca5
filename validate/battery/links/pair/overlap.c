/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

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

struct lane {
    struct gate *gate;
    struct channel *channel;
    const struct rail *rail;
    const struct rail_info *own, *theirs;
    struct path_plan plan;
    struct path_result path;
    struct link_result result;
    struct report mine, other;
    int own_index, path_mtu_bytes;
    bool drives, has_come, has_thread, is_hopeless;
    pthread_t thread;
};

static void come(struct lane *lane)
{
    struct gate *gate = lane->gate;

    pthread_mutex_lock(&gate->lock);
    if (!lane->has_come)
        gate->awaited--;
    lane->has_come = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

/* Waits between warm-up and stream until the gate is open. */
static void wait_at_gate(void *context)
{
    struct lane *lane = context;
    struct gate *gate = lane->gate;

    come(lane);
    pthread_mutex_lock(&gate->lock);
    while (!gate->is_open)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static void *lane_run(void *argument)
{
    struct lane *lane = argument;

    if (lane->drives)
        pair_run_drive(lane->channel, lane->rail, &lane->plan, &lane->result, &lane->path,
                       &lane->mine);
    else
        pair_run_serve(lane->channel, lane->rail, &lane->plan, &lane->mine);
    come(lane); /* a server, or a driver that failed before the gate */
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

/* Runs one direction on all lanes. A server is ready at once. */
static void run(struct lane *lanes, int count, bool drives, const struct overlap_start *start,
                int direction)
{
    struct gate gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

    gate.awaited = drives ? count : 0;
    for (int i = 0; i < count; i++) {
        struct lane *lane = &lanes[i];

        lane->gate = &gate;
        lane->drives = drives;
        lane->has_come = !drives;
        lane->mine.errors = (struct errors){0};
        if (lane->mine.failed || lane->other.failed || lane->is_hopeless) {
            come(lane);
            continue;
        }
        lane->has_thread = pthread_create(&lane->thread, NULL, lane_run, lane) == 0;
        if (!lane->has_thread)
            watch_fault("cannot start a thread for rail %s", lane->own->name);
    }
    gate_wait(&gate);
    if (start)
        start->wait(start->context, direction);
    gate_open(&gate);
    for (int i = 0; i < count; i++) {
        if (lanes[i].has_thread)
            pthread_join(lanes[i].thread, NULL);
        lanes[i].has_thread = false;
        for (int k = 0; k <= lanes[i].result.mark_count; k++)
            lanes[i].result.marks_s[k] -= gate.opened_s;
    }
}

/* Sets the figure of each lane to what it carried while all of them ran. */
static void figure(struct lane *lanes, int count)
{
    struct flow flows[PAIR_RAILS];
    double begin, end;

    for (int i = 0; i < count; i++)
        flows[i] = (struct flow){lanes[i].result.marks_s, lanes[i].result.mark_count,
                                 lanes[i].result.mark_bytes};
    if (!flows_window(flows, count, &begin, &end))
        return;
    for (int i = 0; i < count; i++)
        if (flows[i].mark_count > 0)
            pair_run_set_bandwidth(&lanes[i].result, flow_mbps(&flows[i], begin, end));
}

static int progress(void *context, struct pollfd *polled)
{
    bool can_sleep = true;
    int count = 0;

    for (struct lane *lane = context; lane->channel; lane++) {
        polled[count] = (struct pollfd){.fd = channel_arm(lane->channel), .events = POLLIN};
        can_sleep &= polled[count++].fd >= 0;
    }
    return can_sleep ? count : -1;
}

static void prepare(const struct pair_run *pair_run, struct lane *lane, int index, int direction)
{
    lane->plan = *pair_run->plan;
    lane->plan.session = pair_run_session(pair_run, index, direction);
    lane->plan.begin = wait_at_gate;
    lane->plan.context = lane;
    lane->result = (struct link_result){
        .from = pair_run->program->node, .to = pair_run->partner, .counted_bytes = -1};
    snprintf(lane->result.rail, sizeof lane->result.rail, "%s", lane->own->name);
}

static void take_result(const struct pair_run *pair_run, struct lane *lane, bool has_gone)
{
    struct link_result *result = &lane->result;

    result->path_mtu_bytes = lane->path_mtu_bytes;
    pair_run_conclude(lane->own, lane->theirs, &lane->mine, has_gone ? NULL : &lane->other,
                      lane->is_hopeless, result);
    *results_add(pair_run->results, result->from, result->to, "") = *result;
}

/* Probes each lane, and sets is_hopeless of those that are not to be tried in this direction.
 * Returns 0, or -1 if the partner was lost. */
static int probe(struct pair_run *pair_run, struct lane *lanes, int count, bool drives,
                 const struct control_idle *idle)
{
    for (int i = 0; i < count; i++) {
        struct lane *lane = &lanes[i];
        int found = pair_run_probe(pair_run, lane->own_index, lane->theirs, lane->plan.session,
                                   drives, idle, &lane->path_mtu_bytes);

        if (found < 0)
            return -1;
        lane->is_hopeless = found > 0;
    }
    return 0;
}

/* Measures one direction. indexes: of the rails, for the session. Returns 0, or -1 if the partner
 * was lost. */
static int hold_direction(struct pair_run *pair_run, struct lane *lanes, const int *indexes,
                          int count, int direction, const struct overlap_start *start)
{
    bool drives = pair_run->is_first == (direction == 0);
    struct control_idle idle = {progress, lanes};
    int rv = 0;

    program_step(pair_run->program);
    for (int i = 0; i < count; i++)
        prepare(pair_run, &lanes[i], indexes[i], direction);
    rv = probe(pair_run, lanes, count, drives, &idle);
    for (int i = 0; i < count && rv != 0; i++)
        lanes[i].is_hopeless = true;
    run(lanes, count, drives, start, direction);
    for (int i = 0; i < count && rv == 0; i++)
        rv = control_exchange(pair_run->control, &lanes[i].mine, &lanes[i].other,
                              sizeof lanes[i].mine, &idle);
    if (drives)
        figure(lanes, count);
    for (int i = 0; i < count && drives; i++)
        take_result(pair_run, &lanes[i], rv != 0);
    return rv;
}

/* Connects the rails that both ends can drive. Returns their number. */
static int open_lanes(struct pair_run *pair_run, const struct rail_infos *theirs,
                      struct lane *lanes, int *indexes)
{
    int count = 0, own, other;

    for (int i = 0; i < PAIR_RAILS; i++) {
        struct lane *lane = &lanes[count];
        struct error err = {""};

        if (!pair_run_rails(pair_run, theirs, i, &own, &other))
            continue;
        indexes[count++] = i;
        lane->channel = pair_run->rails->channels[own];
        lane->rail = pair_run->rails->rails[own];
        lane->own_index = own;
        lane->own = &pair_run->rails->own.rails[own];
        lane->theirs = &theirs->rails[other];
        if (channel_connect(lane->channel, lane->theirs->address, &err) != 0) {
            lane->mine.failed = 1;
            snprintf(lane->mine.text, sizeof lane->mine.text, "%.199s", err.text);
        }
    }
    return count;
}

int overlap_hold(struct pair_run *pair_run, const struct overlap_start *start)
{
    struct rail_infos *theirs = pair_run_open(pair_run);
    struct lane *lanes = calloc(PAIR_RAILS + 1, sizeof *lanes);
    int indexes[PAIR_RAILS], count, rv = theirs ? 0 : -1, direction = 0;

    if (!lanes)
        watch_fault("out of memory");
    count = theirs ? open_lanes(pair_run, theirs, lanes, indexes) : 0;
    for (; direction < 2 && rv == 0; direction++)
        rv = hold_direction(pair_run, lanes, indexes, count, direction, start);
    for (; direction < 2; direction++)
        if (start)
            start->wait(start->context, direction);
    for (int i = 0; i < count; i++)
        channel_disconnect(lanes[i].channel);
    control_disconnect(pair_run->control);
    free(lanes);
    free(theirs);
    return rv;
}
