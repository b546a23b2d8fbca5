/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RUNS_H
#define MUSTER_RUNS_H

#include <stdbool.h>
#include <time.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"

/* The runs of muster certify that the controller knows, of whatever host: by root's jobs, named
 * muster-certify-RUN, and the reservations muster-RUN in which drained nodes are tested again. */

#define RUNS_JOB "muster-certify-"
#define RUNS_RESERVATION "muster-"

struct cluster_run {
    char run[64];
    char host[64]; /* where it was started; "" where only its reservation is there */
    time_t since;
    bool has_job, has_reservation; /* a reservation without a job: it begins, ends, or was killed */
    struct hostlist nodes;         /* of the reservation and of the job, doubles kept */
};

/* *runs is to be released with cluster_runs_free(). Returns their number, or -1 with err. */
int cluster_runs(struct cluster_run **runs, struct error *err);
void cluster_runs_free(struct cluster_run *runs, int count);

#endif
