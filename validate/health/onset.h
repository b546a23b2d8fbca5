/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ONSET_H
#define MUSTER_ONSET_H

#include <time.h>

/* Since when the health check finds the fault that drains a node, whether it was drained or not:
 * root's (state_file.h). */
#define ONSET_FILE "/run/muster/onset"

/* Takes the fault of this check, "link_down eth1"; "": there is none. Returns when the first check
 * in a row found the same, now if it is this one; what cannot be kept begins with each check. */
time_t onset_take(const char *path, const char *fault, time_t now);

#endif
