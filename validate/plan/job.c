/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/plan/job.h"

#include <math.h>

#include "trainer/model/shape.h"

/* Sets the shape for so many parameters. Its work is 6 P, unlike that of a shape that is given,
 * which counts head and attention. */
static void shape_of(double parameters, const struct plan_wish *wish, struct plan_job *job)
{
    double layers = fmax(1, round(cbrt(parameters / (12 * 128 * 128))));

    job->parameters = parameters;
    job->layers = wish->layers > 0 ? wish->layers : (int)layers;
    job->width = wish->channels > 0 ? wish->channels : sqrt(parameters / (12 * job->layers));
    job->context = wish->context > 0 ? wish->context : 2048;
}

int plan_job_make(const struct plan_wish *wish, struct plan_job *job, struct error *err)
{
    struct shape shape = {0, 1, 0, 2048, 50257};

    if (wish->model && !shape_named(wish->model, &shape))
        return error_set(err, "--model: unknown model \"%s\"", wish->model);
    if (wish->model && wish->parameters > 0)
        return error_set(err, "--model and --parameters are mutually exclusive");
    if (wish->steps > 0 && wish->tokens > 0)
        return error_set(err, "--steps and --tokens are mutually exclusive");
    if (wish->batch < 1)
        return error_set(err, "--batch is missing: number of sequences per step");
    if (wish->parameters > 0) {
        shape_of(wish->parameters, wish, job);
    } else {
        job->layers = wish->layers > 0 ? wish->layers : shape.layers;
        job->width = wish->channels > 0 ? wish->channels : shape.channels;
        job->context = wish->context > 0 ? wish->context : shape.context;
        job->vocabulary = wish->vocabulary > 0 ? wish->vocabulary : shape.vocabulary;
        if (job->layers < 1 || job->width < 1)
            return error_set(
                err, "model missing: give --model, --parameters, or --layers and --channels");
        job->parameters = plan_parameters(job);
    }
    job->batch = wish->batch;
    job->microbatch = wish->microbatch;
    job->is_fp32 = wish->is_fp32;
    job->steps = wish->steps;
    if (job->steps == 0)
        job->steps = ceil((wish->tokens > 0 ? wish->tokens : 20 * job->parameters) /
                          (job->batch * job->context));
    return 0;
}
