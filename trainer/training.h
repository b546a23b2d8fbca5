/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TRAINING_H
#define MUSTER_TRAINING_H

#include <signal.h>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/data/dataset.h"
#include "trainer/options.h"
#include "trainer/parallel/guard.h"
#include "trainer/parallel/pipeline/arrange.h"
#include "trainer/parallel/strategy.h"

struct injection;

/* One model in training by the ranks of a communicator. All ranks call the functions marked
 * collective. */
struct training {
    const struct train_options *options;
    struct comm *comm;
    struct comm *alone; /* of this rank only, for replicas; else NULL */
    struct arrangement arrangement;
    struct pipeline *pipeline; /* this rank's stage; without a pipeline the only one */
    int first_row, rows;       /* this rank's sequences */
    const struct compute *compute;
    struct token_file *file; /* NULL: random tokens */
    struct dataset dataset;
    size_t parameter_count;
    struct shard *shard;
    struct guard guard;                /* checks gradients before they are sent */
    struct verify *verify;             /* NULL: nothing is compared */
    const struct injection *injection; /* faults on purpose; NULL: none */
    int32_t *inputs, *targets;         /* this rank's rows x context */
    struct rank_step *rank_steps;      /* each rank's results of the step, in the order of ranks */
    long step;                         /* updates made */
    long steps_made;                   /* of these, since training_start() */
    uint64_t sent_bytes;               /* by this rank, until the exchange of the last step */
};

/* A rank's results of a step, which all ranks exchange. */
struct rank_step {
    double loss;    /* its part of the mean */
    double squares; /* of its part of the gradient */
    double seconds; /* from the step's beginning to the exchange */
    double waited_s;
    int32_t bad_unit, bad_tensor; /* of a gradient of its own that is not finite; -1: none */
    int32_t signal;               /* that asks it to stop; 0: none */
    int32_t saved;                /* 0: it is writing a checkpoint; 1: it is not */
};

/* The result of a step, over all ranks. */
struct step_result {
    double loss;          /* before the update */
    double gradient_norm; /* before clipping */
    double rate, seconds;
    double waited_s;     /* of these, this rank's wait for communication that was not hidden */
    uint64_t sent_bytes; /* by this rank since the exchange of the step before */
    int signal;          /* that asks some rank to stop; 0: none */
};

/* Checks whether the options fit the number of ranks, as far as one rank can know alone. Returns 0,
 * or -1 with err. */
int training_fits(const struct train_options *options, int ranks, struct error *err);

/* Allocates memory, opens and verifies the data, draws the weights; options and comm must live as
 * long. Collective. Returns 0, or -1 with err on all ranks (comm_agree()). The caller clears
 * training in either case. */
int training_start(const struct train_options *options, const struct compute *compute,
                   struct comm *comm, struct training *training, struct error *err);
void training_clear(struct training *training);

/* Returns the loss of the next batch, without gradients. Collective. */
double training_evaluate(struct training *training);

/* Makes one step. signal: asks this rank to stop, read as late as possible. saved: as in rank_step.
 * Collective. Returns 0, or -1 with err on all ranks: loss or gradients are not finite (then the
 * parameters are as before), replicas differ, or parameters that are verified differ. err names the
 * step, the first such rank, and the tensor. */
int training_step(struct training *training, const volatile sig_atomic_t *signal, int32_t saved,
                  struct step_result *result, struct error *err);

/* Sets forecasts [stages] to what each stage will take and send. */
void training_forecast(const struct training *training, struct forecast *forecasts);

/* Bytes of a stage: memory (the most of one of its ranks) and traffic in a step (of all its
 * ranks). */
struct stage_usage {
    double state, working, activations;
    double forward, backward, ends, inside;
};

/* Sets usages [stages] to those of all stages so far, and forecasts [stages]. Called between steps.
 * Collective. Returns 0, or -1 if no step was made. */
int training_usage(const struct training *training, struct stage_usage *usages,
                   struct forecast *forecasts);

/* Returns the problem, for checkpoints. */
struct checkpoint_problem training_problem(const struct training *training);

/* Returns the norm of the gradient of one tensor over all layers. Collective. */
double training_norm(const struct training *training, enum tensor tensor);

#endif
