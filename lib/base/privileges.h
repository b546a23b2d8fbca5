/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PRIVILEGES_H
#define MUSTER_PRIVILEGES_H

#include <stdbool.h>

/* What a program that listens on the network must not have. MPI and UCX take what comes in over it
 * from anybody, and UCX's messages say where in memory they are to be put. */

/* Whether the program must not go on: its effective user is root, and MUSTER_ALLOW_ROOT is not 1 (a
 * container whose only user is root). */
bool privileges_are_too_many(void);

/* "does not run as root: ...", for a person. */
extern const char privileges_refusal[];

/* For a rank of an MPI program, before MPI: refuses root, in one line of that rank which speaks for
 * all and with exit status 2, and gives up what privileges_drop() does. */
void privileges_give_up(const char *program, bool speaks);

/* Nothing that this process, which has one thread yet, or a program that it starts can do gives it
 * more rights from here on (PR_SET_NO_NEW_PRIVS); and it has no capability left, nor is there one
 * that it could be given. Root, where it is allowed, keeps its own, as devices and locked memory
 * may need them. A kernel that refuses a part of it is no error. */
void privileges_drop(void);

#endif
