/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WATCH_SAMPLE_H
#define MUSTER_WATCH_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "validate/watch/ras.h"

/* One sample of a node of a running job: its ranks, its rails and, on one node, NCCL's RAS report.
 * All values except states are running totals. */

struct watch_rank {
    long step;       /* the number of Slurm's step; -1: the batch script */
    int rank;        /* of the program */
    long pid;        /* of its process with the most processor time */
    char state;      /* of pid, as in /proc/PID/stat; T if any process of the rank is stopped */
    double cpu_s;    /* processor time of all its processes and threads */
    double queued_s; /* their time in a run queue, ready to run */
    double io_bytes; /* read from and written to storage */
};

struct watch_rail {
    char name[64];
    char address[64];                  /* "": none */
    double sent_bytes, received_bytes; /* both NAN if one could not be read */
    bool is_partial; /* these bytes lack RDMA traffic, which the port does not count, or are NAN */
    /* Both are NAN if one of the counters in their sums could not be read. */
    double losses; /* of the link, with its recoveries */
    double errors; /* frames and packets that arrived damaged */
};

/* What the job's TCP connections on a rail have sent to one address. */
struct watch_flow {
    char rail[64], peer[64];
    double bytes; /* acknowledged */
    double mbps;  /* highest of the kernel's latest delivery rates, 10^6 bit/s; 0: not limited by
                     the network */
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
    double unread_bytes; /* received by TCP, and not yet read by the job */
    struct ras ras;
};

void watch_sample_clear(struct watch_sample *sample);

/* Writes the sample as one line of text, whatever its names contain, and parses it. Parsed names
 * have no control characters. watch_sample_parse() returns 0, or -1 if it is no such line or memory
 * is out. */
void watch_sample_write(const struct watch_sample *sample, FILE *stream);
int watch_sample_parse(const char *line, struct watch_sample *sample);

#endif
