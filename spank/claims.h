/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_CLAIMS_H
#define MUSTER_SPANK_CLAIMS_H

/* In the prolog, as root: makes the place in which users' preflights leave their claims about this
 * node (validate/claims), where LOCALSTATEDIR/lib/muster is there: /run/muster/claims, a tmpfs of 1
 * MiB and 1024 files, mode 1733, so that who fills it fills nothing else. Best effort: without it
 * no claim is left. */
void claims_place_make(void);

#endif
