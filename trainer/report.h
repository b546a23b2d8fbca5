/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TRAIN_REPORT_H
#define MUSTER_TRAIN_REPORT_H

#include "trainer/comm/world.h"
#include "trainer/training.h"

/* Prints a run on standard output, as text or with --json as records. Rank 0 prints; the others
 * call only the functions marked collective. */

void report_begin(const struct training *training, const struct world *world);
/* Prints which rank computes what, and the predicted time of a step. */
void report_plan(const struct training *training, const struct world *world);
/* What each stage of a pipeline will take and send in a step. */
void report_forecast(const struct training *training);

/* Prints the last step. */
void report_step(const struct training *training, const struct world *world,
                 const struct step_result *result);
/* Prints the choices by this machine's figures, which are known after the first step. */
void report_choices(const struct training *training);
/* Prints progress, on a terminal beside JSON records. seconds: of a step. */
void report_progress(const struct training *training, double seconds);
/* The norm of each tensor's gradient. Collective. */
void report_norms(const struct training *training, const struct world *world);

/* The final loss; memory and traffic beside their formulas. last: of the last step. Collective. */
void report_end(struct training *training, const struct world *world,
                const struct step_result *last);

#endif
