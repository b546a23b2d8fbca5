/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_PLAN_H
#define MUSTER_COMMAND_PLAN_H

#include "lib/base/text.h"
#include "validate/plan/figures.h"
#include "validate/plan/sbatch.h"

/* Internals of muster plan. */
struct plan {
    struct plan_figures figures;
    struct plan_job job;
    struct plan_layout layout;
    char *sbatch; /* plan_sbatch_text(); printing modifies it */
};

/* Returns "data parallel over 32 devices, ZeRO-1". */
struct text_line plan_layout_text(const struct plan *plan);
/* Returns "90 s", "5.2 min", "7.9 h" or "47.7 days". */
struct text_line plan_time_text(double seconds);

void plan_print(const struct plan *plan);
void plan_print_json(const struct plan *plan);

#endif
