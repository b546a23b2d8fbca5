/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPLIT_H
#define MUSTER_SPLIT_H

#include <stdbool.h>

#include "lib/base/error.h"

/* Splits the layers among the stages of a pipeline. Pure. */

/* Splits layers as evenly as possible; earlier stages get one more. layers >= stages >= 1. */
void split_even(int layers, int stages, int *counts);

/* Splits layers by the stages' speeds (> 0, layers per second or in any unit). Each stage gets one
 * layer; each further layer goes to the stage that would be ready first with it, after (n + 1) /
 * speed, the last stage head_s later. So the slowest stage is ready as early as possible. If head_s
 * is 0 and no stage is so slow that it would get none, a stage gets floor(layers x speed / all
 * speeds) and then some of the layers that are left (Yang et al.: Holmes, 2023, self-adapting
 * pipeline partition). */
void split_by_speed(int layers, int stages, const double *speeds, double head_s, int *counts);

/* Parses "3,5,4": for each stage a number of at least 1, with the sum `layers`. Returns 0, or -1
 * with err. */
int split_parse(const char *text, int layers, int stages, int *counts, struct error *err);

#endif
