/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TRAINING_H
#define MUSTER_TRAINING_H

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/data/dataset.h"
#include "trainer/model/model.h"
#include "trainer/options.h"

/* One model in training on one device. */
struct training {
    const struct train_options *options;
    struct geometry geometry;
    struct model *model;
    struct token_file *file; /* NULL: random tokens */
    struct dataset dataset;
    size_t parameter_count;
    /* parameter_count each, unit after unit */
    real *parameters, *gradients, *first_moments, *second_moments;
    int32_t *inputs, *targets; /* batch x context */
    long step;                 /* updates made */
};

/* What a step came to. */
struct step_result {
    double loss;          /* before the update */
    double gradient_norm; /* before clipping */
    double rate, seconds;
};

/* Takes memory, opens and verifies the data, draws the weights; options must live as long. Returns
 * 0, or -1 with err; to be cleared in either case. */
int training_start(const struct train_options *options, const struct compute *compute,
                   struct training *training, struct error *err);
/* Draws the weights again and forgets the moments. */
void training_draw(struct training *training);
void training_clear(struct training *training);

/* One batch forward and backward. Gradients are left for a look; no update. */
void training_evaluate(struct training *training, struct step_result *result);

/* One step. Returns 0, or -1 with err when loss or gradients are not finite: then the parameters
 * are as before and err names the first such tensor. */
int training_step(struct training *training, struct step_result *result, struct error *err);

/* For checkpoints: the problem, and the state, whose arrays are the training's own. */
struct checkpoint_problem training_problem(const struct training *training);
struct checkpoint_state training_state(const struct training *training);

/* Norm of the gradient of one tensor over all layers. */
double training_norm(const struct training *training, enum tensor tensor);

#endif
