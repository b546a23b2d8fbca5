/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/choose/others.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

const double others_most = 0.1;

struct others_mark others_read(const char *root)
{
    /* user nice system idle iowait irq softirq steal, proc(5) */
    double ticks[8], tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
    struct others_mark mark = {0, 0};
    char path[512];
    FILE *stream;

    snprintf(path, sizeof path, "%s/proc/stat", root);
    stream = fopen(path, "re");
    if (stream == NULL)
        return mark;
    if (fscanf(stream, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &ticks[0], &ticks[1], &ticks[2],
               &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]) == 8) {
        mark.busy_s = (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7]) * tick_s;
        mark.all_s = mark.busy_s + (ticks[3] + ticks[4]) * tick_s;
    }
    fclose(stream);
    return mark;
}

double others_share(struct others_mark before, struct others_mark after, double own_s)
{
    double all_s = after.all_s - before.all_s;

    if (before.all_s <= 0 || all_s <= 0)
        return 0;
    return fmin(1, fmax(0, after.busy_s - before.busy_s - own_s) / all_s);
}

bool others_misled(const struct machine *machine)
{
    return machine->others > others_most && machine->measured < 2;
}

bool others_are_gone(double load)
{
    return load < others_most;
}

struct machine others_keep_better(struct machine *first, struct machine *second)
{
    struct machine *better = second->others <= first->others ? second : first, kept = *better;

    machine_clear(better == first ? second : first);
    kept.measured = 2;
    return kept;
}
