/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PROBE_H
#define MUSTER_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "lib/base/error.h"
#include "validate/slurm/job/user.h"

/* Probe jobs of muster policy: batch jobs that sleep, in the name of a user. */

struct probe_request {
    const char *name, *cluster; /* cluster: keeps the request off other clusters of a federation */
    const struct user *user;
    const char *account, *qos, *partition, *reservation; /* "": the default, or none */
    const char *node;                                    /* "": any */
    const char *excluded;                                /* nodes; NULL or "": none */
    const char *gres;                                    /* "gpu:2" a node; "": none */
    int nodes, cpus;                                     /* cpus: in all */
    bool is_exclusive;
    bool is_later; /* begins in an hour or later: it is accepted but does not run */
    int minutes;   /* its time limit; 0: the partition's */
    double run_s;  /* it sleeps for so long; 0: to its time limit, PROBE_MOST_MIN at most */
    int wait_s;    /* how much longer than other probes it may wait */
};

enum probe_answer {
    PROBE_ACCEPTED,
    PROBE_LIMITED,   /* refused because of a limit of the association, QOS or partition */
    PROBE_DENIED,    /* the reservation does not let the user in */
    PROBE_REFUSED,   /* for any other reason */
    PROBE_NO_ANSWER, /* the controller did not answer */
};

/* Submits the probe. Returns the answer, with *id for PROBE_ACCEPTED, else with Slurm's message in
 * text. */
enum probe_answer probe_submit(const struct probe_request *request, uint32_t *id, char *text,
                               size_t size);

/* Queries when such a job would start, and submits none. As probe_submit(), with *start and the
 * node. */
enum probe_answer probe_would_start(const struct probe_request *request, time_t *start,
                                    char node[64], char *text, size_t size);

#endif
