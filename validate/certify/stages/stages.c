/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/certify/stages/stages.h"

const struct certify_stage *const certify_stages[] = {
    &stage_reach, &stage_check,       &stage_subnet, &stage_launch,      &stage_host, &stage_gpu,
    &stage_links, &stage_collectives, &stage_train,  &stage_certificate, NULL,
};
