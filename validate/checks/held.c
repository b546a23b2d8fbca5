/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/checks.h"

#include "lib/base/bounded_child.h"
#include "lib/constants/checks_constants.h"

double checks_held_s(const struct conf *conf)
{
    return bounded_longest_s(conf->gpu_deadline_s) +
           (double)conf->mounts.count * bounded_longest_s(CHECK_MOUNT_S);
}
