/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RAS_H
#define MUSTER_RAS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* NCCL's report of a job's communicators: its RAS threads (2.24 and later) answer any client of a
 * port of the node. The answer is text; from 2.28.7 on JSON, with the counts of all ranks. Source:
 * NCCL User Guide, Troubleshooting, RAS; src/ras/client_support.cc. */

#define RAS_ADDRESS "127.0.0.1:28028" /* unless the job has NCCL_RAS_ADDR */

/* A rank of a communicator, which may differ from the rank of the job. */
struct ras_rank {
    int rank; /* -1: unknown */
    char host[64];
    long pid;
};

struct ras_comm {
    char name[40];           /* its hash */
    double least, most;      /* collective operations launched by one rank; 0: unknown */
    double total;            /* of all ranks: grows while any rank launches one */
    int missing_count;       /* ranks that gave no data */
    struct ras_rank missing; /* the first of them */
    bool is_dead;            /* whether NCCL has given up one of them */
    int behind_count;        /* ranks that have launched the least; 0 if all are equal */
    struct ras_rank behind;  /* the first with the least; with JSON also if all are equal */
};

/* JSON has all communicators. Up to WATCH_RAS_COMMS with a missing rank and as many with a rank
 * behind are kept; the last item is then the sum of all others, without names. */
struct ras {
    bool is_answered;
    struct ras_comm *comms;
    size_t comm_count;
};

void ras_clear(struct ras *ras);

/* Parses an answer in either format. Returns 0, or -1 if it is no answer. */
int ras_parse(const char *answer, struct ras *ras);

/* Queries the port, within deadline_s; a port on loopback only if just processes of the user listen
 * on it. Returns 0, or -1 without an answer. Clear ras in any case. */
int ras_query(const char *address, uid_t uid, double deadline_s, struct ras *ras);

#endif
