/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RAS_H
#define MUSTER_RAS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What NCCL knows of a job's communicators: its RAS threads (2.24 and later) answer whoever
 * connects to a port of the node. Text at first; JSON, with the counts of all ranks, from 2.28.7
 * on. Source: NCCL User Guide, Troubleshooting, RAS; src/ras/client_support.cc. */

#define RAS_ADDRESS "127.0.0.1:28028" /* unless the job has NCCL_RAS_ADDR */

/* A rank of a communicator, which need not be the job's. */
struct ras_rank {
    int rank; /* -1: not told */
    char host[64];
    long pid;
};

struct ras_comm {
    char name[40];           /* its hash */
    double least, most;      /* collective operations that a rank has launched; 0: not told */
    double total;            /* grows while any rank launches one */
    int missing_count;       /* ranks that gave no data, */
    struct ras_rank missing; /* the first of them, */
    bool is_dead;            /* and whether NCCL has given it up */
    int behind_count;        /* ranks that have launched the least, where not all are equal */
    struct ras_rank behind;  /* the first of them; by JSON of all when nobody is behind */
};

/* JSON tells all communicators: up to WATCH_RAS_COMMS of those with a rank missing and as many of
 * those with one behind are kept, and the last one is then the sum of all others, without names. */
struct ras {
    bool is_answered;
    struct ras_comm *comms;
    size_t comm_count;
};

void ras_clear(struct ras *ras);

/* Reads an answer of either kind. Returns 0, or -1 when it is none. */
int ras_parse(const char *answer, struct ras *ras);

/* Asks the port, within deadline_s; one of this node's loopback only if processes of that user
 * listen on it. Returns 0, or -1 when nobody answers; ras is to be cleared in any case. */
int ras_query(const char *address, uid_t uid, double deadline_s, struct ras *ras);

#endif
