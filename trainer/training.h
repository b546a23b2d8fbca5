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

/* One model in training by the ranks of a communicator. Where it says collective, all ranks call.
 */
struct training {
    const struct train_options *options;
    struct comm *comm;
    struct comm *alone; /* of replicas, which train each by itself; else NULL */
    struct arrangement arrangement;
    struct pipeline *pipeline; /* this rank's stage; of one stage where there are no others */
    int first_row, rows;       /* this rank's sequences */
    const struct compute *compute;
    struct token_file *file; /* NULL: random tokens */
    struct dataset dataset;
    size_t parameter_count;
    struct shard *shard;
    struct guard guard;                /* looks at gradients before they are sent */
    struct verify *verify;             /* NULL: nothing is compared */
    const struct injection *injection; /* faults on purpose; NULL: none */
    int32_t *inputs, *targets;         /* this rank's rows x context */
    struct step_word *words;           /* what each rank said of the step, in the order of ranks */
    long step;                         /* updates made */
    long steps_made;                   /* of these, since training_start() */
    uint64_t sent_bytes;               /* when the last step was summed up */
};

/* What a rank tells the others of a step. */
struct step_word {
    double loss;    /* its part of the mean */
    double squares; /* of its part of the gradient */
    double seconds; /* from the step's begin to this word */
    double waited_s;
    int32_t bad_unit, bad_tensor; /* of a gradient of its own that is not finite; -1: none */
    int32_t signal;               /* that asks it to stop; 0: none */
    int32_t saved;                /* 0: it is writing a checkpoint; 1: it is not */
};

/* What a step came to, over all ranks. */
struct step_result {
    double loss;          /* before the update */
    double gradient_norm; /* before clipping */
    double rate, seconds;
    double waited_s;     /* of these, this rank's in communication: what was not hidden */
    uint64_t sent_bytes; /* by this rank since the word of the step before */
    int signal;          /* that some rank was told to stop by; 0: none */
};

/* Whether the options can be for so many ranks, as far as that is known before the ranks have met.
 * Returns 0, or -1 with err. */
int training_fits(const struct train_options *options, int ranks, struct error *err);

/* Takes memory, opens and verifies the data, draws the weights; options and comm must live as long.
 * Collective. Returns 0, or -1 with err on all ranks (comm_agree()); to be cleared in either case.
 */
int training_start(const struct train_options *options, const struct compute *compute,
                   struct comm *comm, struct training *training, struct error *err);
void training_clear(struct training *training);

/* The loss of the next batch, without gradients. Collective. */
double training_evaluate(struct training *training);

/* One step. signal: what asks this rank to stop, looked at as late as may be. saved: as in
 * step_word. Collective. Returns 0, or -1 with err on all ranks: loss or gradients are not finite
 * (then the parameters are as before), replicas do not agree, or parameters differ where they are
 * verified. err names the step, the first such rank, and the tensor. */
int training_step(struct training *training, const volatile sig_atomic_t *signal, int32_t saved,
                  struct step_result *result, struct error *err);

/* What each stage will take and send. forecasts: of all stages. */
void training_forecast(const struct training *training, struct forecast *forecasts);

/* What the ranks of a stage took (the most of a rank) and sent in a step (all of them), in bytes.
 */
struct stage_usage {
    double state, working, activations;
    double forward, backward, ends, inside;
};

/* Those of all stages so far, and what was planned (both: an array of the stages). To be called
 * between steps. Collective. Returns 0, or -1: no step was made. */
int training_usage(const struct training *training, struct stage_usage *usages,
                   struct forecast *forecasts);

/* For checkpoints. */
struct checkpoint_problem training_problem(const struct training *training);

/* Norm of the gradient of one tensor over all layers. Collective. */
double training_norm(const struct training *training, enum tensor tensor);

#endif
