/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ONSET_H
#define MUSTER_ONSET_H

#include <stdbool.h>

/* The time since which the health check finds the fault that drains a node, whether the node was
 * drained or not; a file of root (state_file.h), which a reboot removes. */
#define ONSET_FILE "/run/muster/onset"

/* Notes the fault of this check, as "net.interfaces link_down eth1"; "" if there is none. Returns
 * since when each check in a row has found the same fault: now_s if this check is the first, or if
 * the state cannot be kept. Times are clock_s() in whole seconds, since the time of day may be set.
 */
long long onset_update(const char *path, const char *fault, long long now_s);

/* Sets test to the first word of the fault that is noted, the test that found it. Returns false if
 * none is noted. */
bool onset_read_test(const char *path, char test[32]);

#endif
