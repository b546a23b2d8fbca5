/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SIM_MODELRUN_H
#define MUSTER_SIM_MODELRUN_H

#include "validate/judge/links/localization/localization.h"

/* The same as localization_run() by validate/diagnose: what was measured is diagnosed, and what
 * tells the explanations apart is measured, until they are. Sets findings, which the caller frees,
 * and count.
 */
void model_hold(struct localization *localization, int nodes, int rails);

#endif
