/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/choose/job_minutes.h"

#include <math.h>

#include "lib/constants/certify_constants.h"
#include "lib/constants/slurm_constants.h"
#include "validate/certify/state/estimate.h"
#include "validate/certify/step/step_setup.h"
#include "validate/checks/checks.h"
#include "validate/policy/plan.h"

/* Returns the seconds for all stages of the battery, by their limits, and for what surrounds them.
 */
static double battery_s(const struct certify *certify)
{
    return certify_battery_s(certify, certify->count) + 60 * CERTIFY_BATTERY_BESIDES_MIN;
}

/* Returns the seconds for the steps of the check, by their deadlines, and for the time between
 * them. */
static double check_s(const struct certify *certify)
{
    return certify_deadline_s(CERTIFY_CHECK_S + checks_held_s(&certify->conf), certify->count) +
           certify_deadline_s(CERTIFY_NEIGHBORS_S, certify->count) + 60 * CERTIFY_SHORT_JOB_MIN;
}

/* Returns the same for the certificates: some steps revoke certificates, one after the other issues
 * a part of them, one removes suspect reports. */
static double certificates_s(const struct certify *certify)
{
    double parts = ceil((double)certify->count / CERTIFY_PART_NODES);

    return certify_deadline_s(CERTIFY_CERTIFICATE_S * (1 + CERTIFY_REVOKE_STEPS), certify->count) +
           certify_deadline_s(CERTIFY_CERTIFICATE_S * parts, certify->count) +
           certify_deadline_s(SUSPECTS_REMOVE_S, certify->count) + 60 * CERTIFY_SHORT_JOB_MIN;
}

/* Returns the minutes that the job may need. An ordinary user has one job for all, without
 * certificates. */
static int wanted_minutes(const struct certify *certify, enum certify_job job)
{
    double wanted_s = job == JOB_BATTERY        ? battery_s(certify)
                      : job == JOB_CERTIFICATES ? certificates_s(certify)
                                                : check_s(certify);

    if (!certify->is_root)
        wanted_s = check_s(certify) + battery_s(certify);
    return (int)ceil(wanted_s / 60);
}

const struct cluster_partition *certify_partition(const struct certify *certify)
{
    return certify->partition ? plan_partition(&certify->cluster, certify->partition, NULL, 0)
                              : NULL;
}

/* Returns MaxTime of the run's partition, in minutes; 0: no limit. */
static int max_minutes(const struct certify *certify)
{
    const struct cluster_partition *partition = certify_partition(certify);

    return partition ? partition->max_minutes : 0;
}

int certify_job_minutes(const struct certify *certify, enum certify_job job)
{
    int wanted = wanted_minutes(certify, job), most = max_minutes(certify);

    return most > 0 && most < wanted ? most : wanted;
}

void certify_job_most_text(const struct certify *certify, enum certify_job job, char *text,
                           size_t size)
{
    int wanted = wanted_minutes(certify, job), most = max_minutes(certify);

    text[0] = '\0';
    if (most > 0 && most < wanted)
        text_put(text, size,
                 "MaxTime=%d of partition %.60s is less than the %d min that they may take", most,
                 certify->partition, wanted);
}
