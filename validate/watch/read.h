/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WATCH_READ_H
#define MUSTER_WATCH_READ_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/fabric/fabric.h"
#include "validate/watch/sample.h"

/* Reads one node's sample: on it, as the job's user. */

/* A job on this node. */
struct watch_job {
    uint32_t id;
    long own_step; /* whose processes are not the job's: the watch itself */
    uid_t uid;     /* whose processes are looked at */
};

/* Adds the ranks: processes below root's /proc whose environment has the job's number, each rank
 * with all its processes. A rank is numbered by what started it (Open MPI, PMI, torchrun), else by
 * srun. ras_address gets NCCL_RAS_ADDR of the job, else RAS_ADDRESS. Returns 0, or -1 without
 * memory or /proc. */
int watch_read_ranks(const char *root, const struct watch_job *job, struct watch_sample *sample,
                     char *ras_address, size_t size);

/* Adds the rails. Returns 0, or -1 without memory. */
int watch_read_rails(const char *root, const struct fabric *fabric, struct watch_sample *sample);

/* Adds what the user's TCP connections send by these rails, and what they have not read. A kernel
 * without sock_diag(7) tells nothing of it. */
void watch_read_flows(uid_t uid, struct watch_sample *sample);

/* Whether processes of that user listen on that port of this node, and nobody else's. A kernel
 * without sock_diag(7) does not tell: false. */
bool watch_listens(const struct sockaddr_in *address, uid_t uid);

#endif
