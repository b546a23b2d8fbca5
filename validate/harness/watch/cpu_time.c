/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/harness/watch/cpu_time.h"

#include <stdio.h>
#include <string.h>

/* The third field of stat; the second, the name in parentheses, may hold anything. */
static char read_state(const char *root, pid_t thread)
{
    char path[256], text[256], *end;
    FILE *stream;
    size_t length;

    snprintf(path, sizeof path, "%s/proc/self/task/%ld/stat", root, (long)thread);
    stream = fopen(path, "re");
    length = stream ? fread(text, 1, sizeof text - 1, stream) : 0;
    if (stream)
        fclose(stream);
    text[length] = '\0';
    end = strrchr(text, ')');
    return end && end[1] == ' ' && end[2] ? end[2] : '?';
}

int cpu_time_read(const char *root, pid_t thread, double now_s, struct cpu_time_memory *memory,
                  struct cpu_time *time)
{
    unsigned long long ran_ns, queued_ns;
    char path[256];
    FILE *stream;
    int fields;

    snprintf(path, sizeof path, "%s/proc/self/task/%ld/schedstat", root, (long)thread);
    stream = fopen(path, "re");
    fields = stream ? fscanf(stream, "%llu %llu", &ran_ns, &queued_ns) : 0;
    if (stream)
        fclose(stream);
    if (fields != 2)
        return -1;
    *time = (struct cpu_time){1e-9 * (double)ran_ns, 1e-9 * (double)queued_ns,
                              read_state(root, thread)};
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
