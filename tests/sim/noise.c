/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/noise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/fabric.h"

static int take_line(const char *line, struct noise_share *figures)
{
    int count = 0, length;

    for (; count < NOISE_FIGURES; count++, line += length) {
        struct noise_share *share = &figures[count];

        length = 0;
        if (sscanf(line, "%lf %lf %lf%n", &share->value, &share->low, &share->high, &length) != 3)
            break;
        if (!(share->value > 0 && share->low > 0 && share->low <= share->high))
            return -1;
    }
    return *line == '\n' ? count : -1;
}

void noise_read(const char *path, struct noise_record *record)
{
    FILE *file = fopen(path, "r");
    char line[NOISE_FIGURES * 32];

    record->count = 0;
    if (!file) {
        fprintf(stderr, "sim: %s: %m\n", path);
        exit(3);
    }
    for (int number = 1; fgets(line, sizeof line, file); number++) {
        int count;

        if (line[0] == '#')
            continue;
        count = take_line(line, record->figures[record->count]);
        if (count < 1 || record->count + 1 == NOISE_PAIR_RUNS) {
            fprintf(stderr,
                    "sim: %s:%d: expected value, low end and high end of 1 to %d bandwidths as "
                    "shares, in less than %d lines\n",
                    path, number, NOISE_FIGURES, NOISE_PAIR_RUNS);
            exit(3);
        }
        record->figure_count[record->count++] = count;
    }
    fclose(file);
    if (record->count == 0) {
        fprintf(stderr, "sim: %s: no measurements in it\n", path);
        exit(3);
    }
}

struct noise_share noise_figure(const struct noise_record *record, uint64_t pair_run, int figure)
{
    size_t line = (size_t)(pair_run % (uint64_t)record->count);

    return record->figures[line][figure % record->figure_count[line]];
}

struct noise_preemption noise_preempt(bool is_busy, uint64_t *random)
{
    struct noise_preemption share = {1, 1, 1, 0.02 * sim_uniform(random)};
    bool is_preempted = sim_uniform(random) < (is_busy ? 0.6 : 0.004);

    if (sim_uniform(random) < (is_preempted ? 0.75 : 0.015))
        share.stalled = 0.05 + 0.55 * sim_uniform(random);
    if (!is_preempted || sim_uniform(random) >= 0.7)
        return share;
    share.value = 0.3 + 0.72 * sim_uniform(random);
    share.low = share.value * (0.5 + 0.5 * sim_uniform(random));
    share.high = fmax(share.value, share.value + (1 - share.value) * sim_uniform(random));
    return share;
}
