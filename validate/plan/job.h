/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLAN_JOB_H
#define MUSTER_PLAN_JOB_H

#include "validate/plan/model.h"

/* A job by its owner's description. Pure. */

struct plan_wish {
    const char *model;                         /* 124M ...: a size of GPT-2; NULL: none */
    double parameters;                         /* 0: by the shape */
    int layers, channels, context, vocabulary; /* 0: the model's, or a usual one */
    double tokens, steps; /* 0: 20 tokens a parameter (Hoffmann et al., 2022) */
    int batch, microbatch;
    bool is_fp32;
};

/* Fills in the shape and steps. With parameters alone the shape is that of GPT-3's family, 128
 * channels for each layer (Brown et al., 2020, table 2.1). Returns 0, or -1 with err. */
int plan_job_make(const struct plan_wish *wish, struct plan_job *job, struct error *err);

#endif
