/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DEFERRED_ERROR_H
#define MUSTER_DEFERRED_ERROR_H

/* Errors of this process or of the moment, not of the object that was read: no memory, no
 * descriptors, an interrupted call. A reader that cannot return such an error (its result would be
 * "no such file", "no host") notes it here. The caller that decides by the result takes it, as a
 * node that was read in part looks like a changed node. One error per process: not for threads. */

/* Notes errno if it is ENOMEM, EMFILE, ENFILE or EINTR. Does not change errno. */
void deferred_error_note(void);

/* Notes any error; 0 is none. */
void deferred_error_set(int error);

/* Returns the first error noted since the last call, as an errno; 0: none. Forgets it. */
int deferred_error_take(void);

#endif
