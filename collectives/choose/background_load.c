/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/choose/background_load.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

const double background_load_max = 0.1;

struct background_load_mark background_load_read(const char *root)
{
    /* user nice system idle iowait irq softirq steal, proc(5) */
    double ticks[8], tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
    struct background_load_mark mark = {0, 0};
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

double background_load_share(struct background_load_mark before, struct background_load_mark after,
                             double own_s)
{
    double all_s = after.all_s - before.all_s;

    if (before.all_s <= 0 || all_s <= 0)
        return 0;
    return fmin(1, fmax(0, after.busy_s - before.busy_s - own_s) / all_s);
}

bool background_load_misled(const struct machine *machine)
{
    return machine->background_load > background_load_max && machine->measured < 2;
}

struct machine background_load_keep_better(struct machine *first, struct machine *second)
{
    struct machine *better = second->background_load <= first->background_load ? second : first,
                   kept = *better;

    machine_clear(better == first ? second : first);
    kept.measured = 2;
    return kept;
}
