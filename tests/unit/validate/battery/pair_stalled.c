/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/tap.h"
#include "validate/battery/links/pair/overlap.h"

#include <stdlib.h>
#include <string.h>

/* The time in which the partner's process was not scheduled counts in the result of the sender: a
 * bandwidth that is low because of it is no evidence against a rail. The test is the end that sends
 * first, and simulates the partner and the channel. */

static const double own_stalled = 0.1, partner_stalled = 0.3;

static struct rail rail;
static struct rails rails = {.own = {.count = 1, .rails = {{.name = "eth1", .is_open = 1}}},
                             .rails = {&rail},
                             .channels = {(struct channel *)&rail}};
static struct program program;
static struct link_results results;
static const struct path_plan plan;

int path_drive(struct channel *channel, const struct path_plan *how, struct path_result *result,
               struct error *err)
{
    memset(result, 0, sizeof *result);
    if (how->begin)
        how->begin(how->context);
    result->stalled = own_stalled;
    return 0;
}

int path_serve(struct channel *channel, const struct path_plan *how, struct path_received *reported,
               struct error *err)
{
    *reported = (struct path_received){.stalled = 0.9};
    return 0;
}

int control_exchange(struct control *control, const void *out, void *in, size_t size_bytes,
                     const struct control_idle *idle)
{
    if (size_bytes == sizeof rails.own)
        memcpy(in, &rails.own, size_bytes);
    else
        *(struct report *)in = (struct report){.received = {.stalled = partner_stalled}};
    return 0;
}

int control_connect(struct control *control, int partner)
{
    return 0;
}

void control_disconnect(struct control *control)
{
}

int pair_run_probe(struct pair_run *pair_run, int own, const struct rail_info *theirs,
                   uint64_t session, bool drives, const struct control_idle *idle,
                   int *path_mtu_bytes)
{
    return 0;
}

int channel_open(const struct rail *of, struct channel **channel, struct error *err)
{
    return -1;
}

void channel_close(struct channel *channel)
{
}

bool channel_is_rdma(const struct rail *of)
{
    return false;
}

const char *channel_device(const struct rail *of)
{
    return "eth1";
}

const void *channel_address(const struct channel *channel, size_t *size_bytes)
{
    return NULL;
}

int channel_connect(struct channel *channel, const void *address, struct error *err)
{
    return 0;
}

void channel_disconnect(struct channel *channel)
{
}

int channel_arm(struct channel *channel)
{
    return -1;
}

struct probe *probe_open(const struct inventory *inventory, const struct rail *of,
                         struct probe_address *address)
{
    return NULL;
}

void probe_close(struct probe *probe)
{
}

void errors_read(const struct rail *of, struct counters *counters, bool *can_count)
{
    *counters = (struct counters){0};
    *can_count = false;
}

double errors_arrived_bytes(const struct rail *of)
{
    return -1;
}

void errors_between(const struct counters *before, const struct counters *after,
                    struct errors *errors)
{
    *errors = (struct errors){{0}};
}

void program_step(struct program *of)
{
}

bool program_injects_lie(const struct program *of)
{
    return false;
}

void watch_step(void)
{
}

void watch_fault(const char *format, ...)
{
    abort();
}

void *watch_allocate(size_t count, size_t size)
{
    return calloc(count, size);
}

static void check(int (*run)(struct pair_run *pair_run), const char *what)
{
    struct pair_run pair_run = {.program = &program,
                                .rails = &rails,
                                .plan = &plan,
                                .results = &results,
                                .partner = 1,
                                .is_first = true};

    results.count = 0;
    is_int(run(&pair_run), 0, "%s: both directions are run", what);
    is_int(results.count, 1, "... with a result of what this end sent");
    is_near(results.items[0].stalled, own_stalled + partner_stalled, 1e-9,
            "... whose stalled time is that of both ends");
}

static int run_together(struct pair_run *pair_run)
{
    return overlap_run(pair_run, NULL);
}

int main(void)
{
    check(pair_run_execute, "rail after rail");
    check(run_together, "all rails at once");
    free(results.items);
    return tap_done();
}
