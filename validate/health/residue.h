/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RESIDUE_H
#define MUSTER_RESIDUE_H

#include <stddef.h>
#include <sys/types.h>

/* What jobs that have ended left on a node: processes and shared memory of users who are not here.
 * Reads /proc and /dev/shm below root ("" is this machine), asks nobody and changes nothing.
 *
 * A user is an ID of UID_MIN of /etc/login.defs (1000 without it) or above, but nobody. A user is
 * here while one of their processes descends from root's slurmstepd or sshd, or is in the cgroup of
 * a login (user.slice) or of a job whose slurmstepd runs. A process of a user who is not here is
 * residue when it is in the cgroup of slurmd or of a job; services of the site that run as users
 * are in neither. */

enum { RESIDUE_NAMES = 4 /* processes that are named */ };

struct residue {
    size_t processes;
    size_t stuck; /* of these in the kernel, where no signal reaches them (state D) */
    char names[RESIDUE_NAMES][64]; /* of the first of them, printable: "python3 (pid 4711, uid
                                      1000)" */
    size_t files;                  /* in /dev/shm */
    size_t segments;               /* of System V, to which no process is attached */
    double bytes;                  /* of both */
};

/* Returns 0, or -1 when root has no /proc or there is no memory. */
int residue_read(const char *root, struct residue *residue);

/* Whether the process is a slurmstepd of root's or descends from one: 1, 0, or -1 when it or an
 * ancestor has gone or cannot be read. A process that a step left to init does not. */
int residue_is_of_step(const char *root, pid_t pid);

#endif
