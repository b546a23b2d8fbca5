/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_REPORT_H
#define MUSTER_COMMAND_REPORT_H

#include "validate/report/survey.h"

/* Adds what the history at path knows: the last runs of the survey's nodes, and of other nodes the
 * newest one; of runs of the survey's cluster, as another one may have nodes of the same names.
 * Returns 0, also when there is no history; -1 with err. */
int report_past(struct survey *survey, const char *path, struct error *err);

#endif
