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
/* Prints the memory and traffic of each stage of a pipeline that a step will take. */
void report_forecast(const struct training *training);

/* Prints the last step. */
void report_step(const struct training *training, const struct world *world,
                 const struct step_result *result);
/* Prints the choices by this machine's figures, which are known after the first step. */
void report_choices(const struct training *training);
/* Prints progress, on a terminal beside JSON records. seconds: of a step. */
void report_progress(const struct training *training, double seconds);
/* Prints the norm of each tensor's gradient. Collective. */
void report_norms(const struct training *training, const struct world *world);

/* Prints the final loss, and memory and traffic beside their formulas. last: the last step's
 * result. Collective. */
void report_end(struct training *training, const struct world *world,
                const struct step_result *last);

#endif
