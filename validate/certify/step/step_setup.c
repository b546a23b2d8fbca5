/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/step/step_setup.h"

#include <stdio.h>

#include "lib/constants/certify_constants.h"
#include "validate/certify/state/rails.h"
#include "validate/slurm/release.h"

void certify_environment(const struct certify *certify, bool is_fabric,
                         struct certify_environment *environment)
{
    const char **entries = environment->entries;

    *environment = (struct certify_environment){0};
    snprintf(environment->run, sizeof environment->run, "MUSTER_RUN=%s", certify->run);
    *entries++ = environment->run;
    /* A bad rail must not stop the control traffic of the tests that look for it. */
    entries += release_mpi_environment(is_fabric ? NULL : certify->conf.management_interface,
                                       environment->management, entries);
    if (!is_fabric)
        *entries = "MUSTER_MPI=control";
    else if (certify_rails_setting(certify, environment->rails, sizeof environment->rails) == 0)
        *entries = environment->rails;
}

double certify_deadline_s(double seconds, size_t nodes)
{
    return seconds + (double)nodes / CERTIFY_NODES_PER_S;
}
