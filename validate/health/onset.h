/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ONSET_H
#define MUSTER_ONSET_H

#include <stdbool.h>

/* The time at which the health check first found the fault that drains a node, whether it drained
 * the node or not. A file of root (state_file.h), which a reboot removes. */
#define ONSET_FILE "/run/muster/onset"

/* Keeps the fault of this check, as "net.interfaces link_down eth1"; "" if there is none. Returns
 * when the first of the checks in a row with this fault found it: now_s if this check is the
 * first, or if the state cannot be kept. Times are clock_s() in whole seconds, since the time of
 * day may be set. */
long long onset_update(const char *path, const char *fault, long long now_s);

/* Sets test to the first word of the fault that is kept: the test that found it. Returns false if
 * none is kept. */
bool onset_read_test(const char *path, char test[32]);

#endif
