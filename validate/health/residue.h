/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RESIDUE_H
#define MUSTER_RESIDUE_H

#include <stddef.h>
#include <sys/types.h>

/* What ended jobs left on a node: processes and shared memory of users who are not present. Reads
 * only /proc and /dev/shm below root ("" is this machine), and changes nothing.
 *
 * A user is any user ID from UID_MIN of /etc/login.defs (1000 without it), except nobody. A user is
 * present while one of their processes descends from root's slurmstepd or sshd, or is in the cgroup
 * of a login (user.slice) or of a job whose slurmstepd runs. A process of an absent user is residue
 * if it is in the cgroup of slurmd or of a job; services of the site that run as users are in
 * neither. */

enum { RESIDUE_NAMES = 4 /* processes that are named */ };

struct residue {
    size_t processes;
    size_t stuck;                  /* those of them in uninterruptible sleep (state D) */
    char names[RESIDUE_NAMES][64]; /* of the first of them, printable: "python3 (pid 4711, uid
                                      1000)" */
    size_t files;                  /* in /dev/shm */
    size_t segments;               /* System V segments without an attached process */
    double bytes;                  /* of files and segments */
};

/* Returns 0, or -1 if root has no /proc or memory is out. */
int residue_read(const char *root, struct residue *residue);

/* Whether the process is a slurmstepd of root or descends from one. Returns 1, 0, or -1 if it or an
 * ancestor has ended or cannot be read. 0 for a process that a step left to init. */
int residue_is_of_step(const char *root, pid_t pid);

#endif
