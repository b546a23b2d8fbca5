/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_SUSPECTS_H
#define MUSTER_SPANK_SUSPECTS_H

/* In the prolog, as root: makes the place in which users' preflights leave their suspect reports
 * about this node (validate/suspects), where LOCALSTATEDIR/lib/muster is there:
 * /run/muster/suspects, a tmpfs of 1 MiB and 1024 files, mode 1733, so that who fills it fills
 * nothing else. Best effort, for no longer than SUSPECTS_DEADLINE_MS: without it no suspect report
 * is left. */
void suspects_directory_make(void);

#endif
