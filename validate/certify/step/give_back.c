/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/step/give_back.h"

#include <math.h>

#include "lib/base/clock.h"
#include "lib/constants/policy_constants.h"
#include "validate/certify/report/run_records.h"

int certify_pending_jobs(struct certify *certify, struct pending_job **jobs, bool *is_slow,
                         struct error *err)
{
    double begin = clock_s(), took_s, pause_s;
    int count = certify->operations->pending(certify->battery.uid, jobs, err);

    took_s = clock_s() - begin;
    pause_s = fmax(fmin(IDLE_LOOK_S, certify->conf.idle_grace_s / 4), IDLE_LOOK_SHARE * took_s);
    certify->idle_look_at = clock_s() + pause_s;
    *is_slow = count >= 0 && pause_s > certify->conf.idle_grace_s / 2;
    if (!*is_slow)
        return count;
    pending_jobs_free(*jobs, count);
    *jobs = NULL;
    return error_set(err,
                     "slurmctld took %.1f s to list its jobs: nodes could not be released within "
                     "IdleGrace (%.0f s)",
                     took_s, certify->conf.idle_grace_s);
}

static void give_back(struct certify *certify, const char *why)
{
    text_put(certify->idle_end, sizeof certify->idle_end, "%s", why);
    progress_print(&certify->progress, "releasing the nodes: %s", why);
    certify_stop = CERTIFY_STOP_IDLE;
}

void certify_give_back_poll(struct certify *certify)
{
    const struct pending_job *job = NULL;
    struct pending_job *jobs = NULL;
    struct hostlist names = {0};
    struct cluster now = {0};
    struct error err;
    bool is_slow;
    int count;

    if (!certify->options.is_idle || certify_stop || clock_s() < certify->idle_look_at)
        return;
    count = certify_pending_jobs(certify, &jobs, &is_slow, &err);
    if (is_slow) /* a controller that does not answer at all starts no jobs either */
        give_back(certify, err.text);
    if (count > 0 && certify->operations->load_nodes(&now, &err) == 0) {
        for (size_t i = 0; i < certify->count; i++) /* the nodes that the run may have now */
            if (certify->node_runs[i].plan.role == ROLE_TEST)
                hostlist_append(&names, certify->node_runs[i].name);
        job = pending_job_for_nodes(jobs, count, &certify->cluster, &now, &names);
    }
    if (job) {
        char text[200];

        text_put(text, sizeof text, "job %u of user %u wants nodes of partition %.100s", job->id,
                 (unsigned)job->uid, job->partitions);
        give_back(certify, text);
    }
    cluster_clear(&now);
    hostlist_clear(&names);
    pending_jobs_free(jobs, count);
}

void certify_stop_end(struct certify *certify)
{
    char why[sizeof certify->idle_end + 32], text[sizeof((struct outcome_fault *)0)->message];

    if (!certify_stop)
        return;
    if (*certify->idle_end)
        text_put(why, sizeof why, "%s", certify->idle_end);
    else
        text_put(why, sizeof why, "stopped by signal %d", (int)certify_stop);
    for (size_t i = 0; i < certify->count; i++) {
        struct node_run *node_run = &certify->node_runs[i];
        char seen[OUTCOME_TEXT] = "";

        if (node_run->is_decided || node_run->plan.role == ROLE_SKIP)
            continue;
        if (node_run->outcome.verdict == VERDICT_FAIL)
            outcome_text(&node_run->outcome, false, seen, sizeof seen);
        if (!outcome_is_good(&node_run->outcome))
            node_run->outcome = (struct outcome){0};
        text_put(text, sizeof text, "interrupted: %s%s%s", why, *seen ? "; seen until then: " : "",
                 seen);
        certify_verdict(certify, node_run, STAGE_REACH, VERDICT_UNKNOWN, "certify", "", text);
    }
}
