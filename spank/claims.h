/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_CLAIMS_H
#define MUSTER_SPANK_CLAIMS_H

/* In the prolog, as root: makes the directory in which users' preflights leave their claims about
 * this node (validate/claims), LOCALSTATEDIR/lib/muster/claims of mode 1733, where the directory
 * above is there. Best effort: without it no claim is left. */
void claims_place_make(void);

#endif
