/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ONSET_H
#define MUSTER_ONSET_H

/* Since when the health check finds the fault that drains a node, whether it was drained or not:
 * root's (state_file.h), which a boot removes. */
#define ONSET_FILE "/run/muster/onset"

/* Takes the fault of this check, "link_down eth1"; "": there is none. Times are clock_s(), in whole
 * seconds, as that of day may be set. Returns when the first check in a row found the same, now if
 * it is this one; what cannot be kept begins with each check. */
long long onset_take(const char *path, const char *fault, long long now_s);

#endif
