/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RUNS_H
#define MUSTER_RUNS_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"

/* Certify runs known to the controller, started on any host. A run of root holds its nodes by a
 * reservation, which users cannot create. Its jobs show that it is alive, and on which host. */

struct cluster_run {
    char run[64];
    char host[64]; /* where it was started; "" without a job */
    time_t since;
    bool has_job; /* false: the run begins, ends, or was killed (retest.h) */
    struct hostlist nodes;
};

/* Lists the runs. battery_uid: BatteryUser, as for retest_is_job_of(). Release *runs with
 * cluster_runs_free(). Returns their number, or -1 with err. */
int cluster_runs(uid_t battery_uid, struct cluster_run **runs, struct error *err);
void cluster_runs_free(struct cluster_run *runs, int count);

#endif
