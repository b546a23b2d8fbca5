/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DEFERRED_ERROR_H
#define MUSTER_DEFERRED_ERROR_H

/* Want of memory or descriptors, an interrupted call: reasons why something is not known that lie
 * in this process or in a moment, not in what was looked at. Readers whose answer has no room for
 * such a reason ("no such file", "no host") note it here; who decides on the answer asks, because a
 * node that was read by half looks like one that has changed. One per process: no threads. */

/* Remembers errno when it is one of ENOMEM, EMFILE, ENFILE, EINTR. Leaves errno as it is. */
void deferred_error_note(void);

/* Remembers error, whatever it is; 0 is nothing. */
void deferred_error_set(int error);

/* The first that was remembered since this was last asked, as an errno; 0: none. Forgets it. */
int deferred_error_take(void);

#endif
