/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/pmpi/summary.h"

#include <pthread.h>
#include <string.h>

enum { LINES = 96 };

struct line {
    enum collective_kind kind;
    const char *algorithm;
    unsigned long long calls, bytes;
    double time_s;
};

static struct {
    pthread_mutex_t lock;
    struct line lines[LINES];
    unsigned count;
} summary = {.lock = PTHREAD_MUTEX_INITIALIZER};

void summary_count(enum collective_kind kind, const char *algorithm, size_t bytes, double time_s)
{
    struct line *line = summary.lines, *end;

    pthread_mutex_lock(&summary.lock);
    end = summary.lines + summary.count;
    while (line < end && (line->kind != kind || strcmp(line->algorithm, algorithm) != 0))
        line++;
    if (line == end && summary.count < LINES) {
        *line = (struct line){kind, algorithm, 0, 0, 0};
        summary.count++;
    }
    if (line < summary.lines + summary.count) {
        line->calls++;
        line->bytes += bytes;
        line->time_s += time_s;
    }
    pthread_mutex_unlock(&summary.lock);
}

void summary_print(FILE *stream)
{
    pthread_mutex_lock(&summary.lock);
    fprintf(stream, "muster: collectives of rank 0\n");
    if (summary.count == 0)
        fprintf(stream, "muster: no collectives\n");
    else
        fprintf(stream, "muster: %-14s %-20s %10s %16s %12s\n", "COLLECTIVE", "ALGORITHM", "CALLS",
                "BYTES", "SECONDS");
    for (int kind = 0; kind < COLLECTIVE_KINDS; kind++)
        for (unsigned i = 0; i < summary.count; i++) {
            const struct line *line = &summary.lines[i];

            if ((int)line->kind == kind)
                fprintf(stream, "muster: %-14s %-20s %10llu %16llu %12.6f\n",
                        collective_kind_name(line->kind), line->algorithm, line->calls, line->bytes,
                        line->time_s);
        }
    pthread_mutex_unlock(&summary.lock);
}
