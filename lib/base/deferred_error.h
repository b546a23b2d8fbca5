/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DEFERRED_ERROR_H
#define MUSTER_DEFERRED_ERROR_H

/* Errors of this process or of the moment, not of the object that was read: out of memory, out of
 * descriptors, an interrupted call. A reader notes such an error here if its own result would only
 * say "no such file" or "no host". The caller that decides by the result must take the error: a
 * partly read node looks like a changed node. One error per process: not for threads. */

/* Notes errno if it is ENOMEM, EMFILE, ENFILE or EINTR. Does not change errno. */
void deferred_error_note(void);

/* Notes any error; 0 is none. */
void deferred_error_set(int error);

/* Returns the first error noted since the last call, as an errno; 0: none. Forgets it. */
int deferred_error_take(void);

#endif
