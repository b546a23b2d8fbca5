/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/run/requeue.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/constants/run_constants.h"

/* Returns whether the job is queued. */
static bool request(const char *name, const struct own_job *job)
{
    double begin = clock_s();
    struct error err = {""};
    int rv;

    signal(SIGTERM, SIG_IGN);
    while ((rv = own_job_requeue(job, &err)) < 0 && clock_s() - begin < RUN_REQUEUE_S)
        sleep(RUN_REQUEUE_EACH_S);
    if (rv != 0)
        fprintf(stderr, "%s: %s\n", name, err.text);
    signal(SIGTERM, SIG_DFL);
    return rv >= 0;
}

/* Returns whether the controller lost the request: it has the job running, and not requeued. */
static bool is_lost(uint32_t id, const struct own_job *job)
{
    struct own_job now;
    bool is_lost =
        own_job_load(id, &now, NULL) == 0 && now.is_running && now.requeues == job->requeues;

    own_job_clear(&now);
    return is_lost;
}

void requeue_until_ended(const char *name, uint32_t id, const struct own_job *job)
{
    while (request(name, job)) {
        do
            sleep(RUN_REQUEUE_S);
        while (!is_lost(id, job));
        fprintf(stderr, "%s: slurmctld lost the request to queue job %u again; next: once more\n",
                name, id);
    }
}
