/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WATCH_SAMPLE_H
#define MUSTER_WATCH_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "validate/watch/ras.h"

/* What one node of a running job shows at one moment: its ranks, its rails and, on one node, what
 * NCCL says. All but states are totals since some beginning. */

struct watch_rank {
    long step;       /* the number of Slurm's step; -1: the batch script */
    int rank;        /* of the program */
    long pid;        /* of its process with the most processor time */
    char state;      /* of that, as in /proc/PID/stat; T when any process of the rank is stopped */
    double cpu_s;    /* processor time of all its processes and threads */
    double queued_s; /* what they waited for a processor, ready to run */
    double io_bytes; /* read from and written to storage */
};

struct watch_rail {
    char name[64];
    char address[64];                  /* "": it has none */
    double sent_bytes, received_bytes; /* both NAN where one could not be read */
    bool is_partial; /* not all is among these: the port does not count RDMA's, or they are NAN */
    /* Both are NAN where one of the counters that they are made of could not be read. */
    double losses; /* of the link, and how often it recovered */
    double errors; /* frames and packets that arrived damaged */
};

/* What the job's TCP connections of a rail have sent to one address. */
struct watch_flow {
    char rail[64], peer[64];
    double bytes; /* that arrived */
    double mbps;  /* at which what the kernel sent last arrived, 10^6 bit/s; 0: not limited by the
                     network */
};

struct watch_sample {
    char node[64];
    double time_s; /* of the node's clock_s() */
    struct watch_rank *ranks;
    size_t rank_count;
    struct watch_rail *rails;
    size_t rail_count;
    struct watch_flow *flows;
    size_t flow_count;
    double unread_bytes; /* that have arrived by TCP, and the job has not read */
    struct ras ras;
};

void watch_sample_clear(struct watch_sample *sample);

/* One line of text, whatever the names hold, and back, with names that steer no terminal: 0, or -1
 * when it is no such line or memory is out. */
void watch_sample_write(const struct watch_sample *sample, FILE *stream);
int watch_sample_parse(const char *line, struct watch_sample *sample);

#endif
