/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPLIT_H
#define MUSTER_SPLIT_H

#include <stdbool.h>

#include "lib/base/error.h"

/* How many layers each stage of a pipeline gets. Pure. */

/* As even as it goes, the earlier stages with one more. layers >= stages >= 1. */
void split_even(int layers, int stages, int *counts);

/* By the stages' speeds (> 0, layers a second or in any unit): each has a layer, and each other
 * layer goes to the stage that would be ready first with it, (n + 1) / speed, the last one head_s
 * later, so that the slowest is ready as early as may be. Where head_s is 0 and no stage is so slow
 * that it would get none, that is floor(layers x speed / all speeds) and then the layers that are
 * left (Yang et al.: Holmes, 2023, self-adapting pipeline partition). */
void split_by_speed(int layers, int stages, const double *speeds, double head_s, int *counts);

/* "3,5,4": one number of at least 1 for each stage, layers in all. Returns 0, or -1 with err. */
int split_parse(const char *text, int layers, int stages, int *counts, struct error *err);

#endif
