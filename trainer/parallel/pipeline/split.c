/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/parallel/pipeline/split.h"

#include <math.h>
#include <stdlib.h>

void split_even(int layers, int stages, int *counts)
{
    for (int i = 0; i < stages; i++)
        counts[i] = layers / stages + (i < layers % stages);
}

static double ready_s(int stage, int stages, double speed, double head_s, int count)
{
    return count / speed + (stage == stages - 1 ? head_s : 0);
}

void split_by_speed(int layers, int stages, const double *speeds, double head_s, int *counts)
{
    for (int i = 0; i < stages; i++)
        counts[i] = 1;
    for (int given = stages; given < layers; given++) {
        double first_s = INFINITY;
        int first = 0;

        for (int i = 0; i < stages; i++) {
            double then_s = ready_s(i, stages, speeds[i], head_s, counts[i] + 1);

            if (then_s < first_s) {
                first_s = then_s;
                first = i;
            }
        }
        counts[first]++;
    }
}

int split_parse(const char *text, int layers, int stages, int *counts, struct error *err)
{
    const char *left = text;
    long sum = 0;
    int count = 0;

    for (; *left; count++) {
        char *end;
        long number = strtol(left, &end, 10);

        if (*left < '0' || *left > '9' || number < 1 || number > layers ||
            (*end != ',' && *end != '\0') || (*end == ',' && end[1] == '\0'))
            return error_set(err,
                             "--split: expected even, measured or the layers of each stage such as "
                             "3,5,4; found \"%s\"",
                             text);
        if (count < stages)
            counts[count] = (int)number;
        sum += number;
        left = *end ? end + 1 : end;
    }
    if (count != stages || sum != layers)
        return error_set(
            err,
            "--split: expected %d numbers, one per stage, with a sum of %d layers; found \"%s\"",
            stages, layers, text);
    return 0;
}
