/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_REPORT_H
#define MUSTER_COMMAND_REPORT_H

#include "validate/report/survey.h"

/* Adds from the history at path: the last runs of the survey's nodes, the newest run of each other
 * node, and if the history has the survey's run, what changed on nodes that did not pass since
 * their last good run. Only runs of the survey's cluster count, as another cluster may have nodes
 * of the same names; facts of such nodes are mixed (muster.conf(5)). Returns 0, also if there is no
 * history, or -1 with err. */
int report_past(struct survey *survey, const char *path, struct error *err);

#endif
