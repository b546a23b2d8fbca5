/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/harness/watch/cpu_time.h"

#include <stdio.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/sysfs.h"
#include "lib/base/thread_id.h"

int cpu_time_read(const char *root, pid_t thread, double now_s, struct cpu_time_memory *memory,
                  struct cpu_time *time)
{
    unsigned long long ran_ns, queued_ns;
    const char *state;
    char text[256];

    if (sysfs_line(root, text, sizeof text, "proc/self/task/%ld/schedstat", (long)thread) != 0 ||
        sscanf(text, "%llu %llu", &ran_ns, &queued_ns) != 2)
        return -1;
    state = sysfs_stat(root, text, sizeof text, "proc/self/task/%ld/stat", (long)thread);
    *time =
        (struct cpu_time){1e-9 * (double)ran_ns, 1e-9 * (double)queued_ns, state ? *state : '?'};
    if (time->state != 'R' || time->ran_s > memory->ran_s) {
        memory->is_waiting = false;
    } else if (!memory->is_waiting) {
        memory->is_waiting = true;
        memory->since_s = now_s;
    }
    memory->ran_s = time->ran_s;
    if (memory->is_waiting)
        time->queued_s += now_s - memory->since_s;
    return 0;
}

double cpu_time_queued_s(void)
{
    struct cpu_time_memory memory = {0};
    struct cpu_time time;

    return cpu_time_read("", thread_id(), clock_s(), &memory, &time) == 0 ? time.queued_s : 0;
}
