/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_SUSPECTS_H
#define MUSTER_SPANK_SUSPECTS_H

/* Called in the prolog, as root: if LOCALSTATEDIR/lib/muster exists, makes /run/muster/suspects,
 * where users' preflights leave their suspect reports about this node (validate/suspects). It is a
 * tmpfs of 1 MiB and 1024 files, mode 1733: a user who fills it fills nothing else. Best effort,
 * for no longer than SUSPECTS_DEADLINE_MS; without the directory no suspect report is left. */
void suspects_directory_make(void);

#endif
