/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_USER_H
#define MUSTER_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/base/error.h"

/* The user that a child process switches to, for the MPI programs of `muster certify`. */

enum { USER_GROUPS = 256 };

struct user {
    char name[33], home[256];
    uid_t uid;
    gid_t gid;
    gid_t groups[USER_GROUPS];
    int group_count;
};

/* Looks up the user, with all that is needed to become it: a child then queries no name service.
 * Returns 0, or -1 with err, "no such user" or what else keeps a process from becoming it; root is
 * refused, whatever its name is. */
int user_find(const char *name, struct user *user, struct error *err);

/* Removes the other variables of our environment. entry: NAME=VALUE. */
void user_keep_environment(bool (*is_wanted)(const char *entry));

/* Makes this process, which is root's and has one thread, that user's for good: groups, both sets
 * of IDs, no capability left, HOME, USER and LOGNAME; of root's environment only what MPI programs
 * can use. Leaves root's terminal, as whoever can open it can type for root (TIOCSTI): call it in a
 * child. Lifts its limit of locked memory before, as srun passes limits on to the tasks. The
 * parent-death signal (prctl) is cleared by this and must be set again. Returns 0, or -1 with
 * errno: the process must end then. */
int user_become(const struct user *user);

#endif
