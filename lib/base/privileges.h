/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PRIVILEGES_H
#define MUSTER_PRIVILEGES_H

#include <stdbool.h>

/* Privileges that a program which listens on the network must not have. MPI and UCX accept messages
 * from anybody, and UCX's messages contain the memory address to which they are written. */

/* Returns whether the program must not go on: its effective user is root, and MUSTER_ALLOW_ROOT is
 * not 1 (as for a container whose only user is root). */
bool privileges_are_refused(void);

/* "refusing to run as root: ...", for a person. */
extern const char privileges_refusal[];

/* Call it in each rank of an MPI program before MPI starts. If the program must not run as root,
 * the rank with is_reporter prints why, and each rank exits with status 2. Otherwise calls
 * privileges_drop(). */
void privileges_check_and_drop(const char *program, bool is_reporter);

/* Drops all privileges of this process, which must have only one thread: from now on neither it nor
 * a program that it starts can gain rights (PR_SET_NO_NEW_PRIVS), and it has no capability and
 * cannot get one. Root, if it is allowed, keeps its capabilities, as devices and locked memory may
 * need them. Not an error if the kernel refuses a part. */
void privileges_drop(void);

#endif
