/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WATCH_READ_H
#define MUSTER_WATCH_READ_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/fabric/fabric.h"
#include "validate/watch/sample.h"

/* Reads a sample on its node, as the job's user. */

/* A job on this node. */
struct watch_job {
    uint32_t id;
    long own_step; /* the step of the watch itself, whose processes are not of the job */
    uid_t uid;     /* only processes of this user are read */
};

/* Adds the ranks: processes in root's /proc whose environment has the job's ID, each rank with all
 * its processes. The launcher numbers a rank (Open MPI, PMI, torchrun), else srun. Sets ras_address
 * to NCCL_RAS_ADDR of the job, else to RAS_ADDRESS. Returns 0, or -1 if memory is out or without
 * /proc. */
int watch_read_ranks(const char *root, const struct watch_job *job, struct watch_sample *sample,
                     char *ras_address, size_t size);

/* Adds the rails. Returns 0, or -1 if memory is out. */
int watch_read_rails(const char *root, const struct fabric *fabric, struct watch_sample *sample);

/* Adds what the user's TCP connections have sent on these rails, and the bytes that they have not
 * read. Adds nothing with a kernel without sock_diag(7). */
void watch_read_flows(uid_t uid, struct watch_sample *sample);

/* Whether processes of the user, and only theirs, listen on the address. False with a kernel
 * without sock_diag(7). */
bool watch_listens(const struct sockaddr_in *address, uid_t uid);

#endif
