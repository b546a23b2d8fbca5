/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TRAIN_REPORT_H
#define MUSTER_TRAIN_REPORT_H

#include "trainer/comm/world.h"
#include "trainer/training.h"

/* What a run tells a person on standard output, or, with --json, as records. Rank 0's words: the
 * others call only what says collective. */

void report_begin(const struct training *training, const struct world *world);
/* Who computes what, and what was predicted of it. */
void report_plan(const struct training *training, const struct world *world);
/* What each stage of a pipeline will take and send in a step. */
void report_forecast(const struct training *training);

/* The step that was made last. */
void report_step(const struct training *training, const struct world *world,
                 const struct step_result *result);
/* What was chosen by this machine's figures, once it is known what is sent. */
void report_choices(const struct training *training);
/* On a terminal, beside records. seconds: of a step. */
void report_progress(const struct training *training, double seconds);
/* The norm of each tensor's gradient. Collective. */
void report_norms(const struct training *training, const struct world *world);

/* The last loss, memory and traffic beside their formulas. last: the last step's. Collective. */
void report_end(struct training *training, const struct world *world,
                const struct step_result *last);

#endif
