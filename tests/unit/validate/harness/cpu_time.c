/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/harness/watch/cpu_time.h"

#include <math.h>
#include <stdio.h>

#include "lib/base/clock.h"
#include "lib/base/thread_id.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

#define TASK "proc/self/task/7/"

static char *root;
static struct cpu_time at;
static struct cpu_time_memory memory;

static int read_at(const char *schedstat, const char *state, double now_s)
{
    char stat[64];

    snprintf(stat, sizeof stat, "7 (a) b) %s 1 2", state);
    tree_put(root, TASK "schedstat", schedstat);
    tree_put(root, TASK "stat", stat);
    return cpu_time_read(root, 7, now_s, &memory, &at);
}

int main(void)
{
    struct cpu_time_memory own = {0};

    root = tree_unpack("");
    is_int(read_at("3000000000 500000000 9\n", "S", 100), 0, "a recorded thread is read");
    ok(fabs(at.ran_s - 3) < 1e-9 && fabs(at.queued_s - 0.5) < 1e-9 && at.state == 'S',
       "... its times and state, for any thread name");
    read_at("3000000000 500000000 9\n", "R", 101);
    ok(fabs(at.queued_s - 0.5) < 1e-9, "ready for a short time: no wait yet");
    read_at("3000000000 500000000 9\n", "R", 104);
    ok(fabs(at.queued_s - 3.5) < 1e-9, "... a long wait counts before it ends");
    read_at("3010000000 4000000000 9\n", "R", 105);
    ok(fabs(at.queued_s - 4) < 1e-9, "... and only once when the kernel counts it");
    read_at("3010000000 4000000000 9\n", "S", 106);
    read_at("3010000000 4000000000 9\n", "S", 109);
    ok(fabs(at.queued_s - 4) < 1e-9, "a sleeping thread does not wait for a processor");
    tree_put(root, TASK "schedstat", "");
    is_int(cpu_time_read(root, 7, 110, &memory, &at), -1, "no counters in the kernel");
    is_int(cpu_time_read("", thread_id(), clock_s(), &own, &at), 0, "the calling thread is read");
    ok(at.state == 'R', "... and runs");
    tree_remove(root);
    return tap_done();
}
