/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TRAIN_OPTIONS_H
#define MUSTER_TRAIN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/option_set.h"
#include "trainer/model/shape.h"
#include "trainer/optimizer/adamw.h"
#include "trainer/optimizer/rate.h"
#include "trainer/parallel/strategy.h"

/* The options of muster-train. */
struct train_options {
    struct shape shape;
    int batch; /* sequences */
    long steps;
    struct rate rate;
    struct adamw adamw;
    double clip; /* gradient norm at most; 0: no limit */
    uint64_t weights_seed, data_seed;
    bool is_batch_fixed, prints_norms, is_json;
    bool is_bf16; /* activations in bfloat16 */
    int threads;  /* 0: OpenMP's number, shared with the node's other ranks */
    const struct strategy *strategy;
    int stages;            /* of a pipeline; 0: one */
    int microbatches;      /* 0: chosen */
    bool is_auto;          /* stages follow islands */
    bool is_dry;           /* print the plan and exit */
    const char *split;     /* of layers over stages; NULL: even, measured where is_auto */
    double bucket_mb;      /* 10^6 bytes */
    int window;            /* 0: no limit */
    const char *algorithm; /* of collectives; NULL: by size (comm_set_algorithm()) */
    const char *wire;      /* how gradients travel; NULL: as they are */
    bool verifies;
    const char *inject;     /* a fault on purpose, for tests; NULL: none */
    const char *data;       /* token file; NULL: random tokens */
    const char *checkpoint; /* directory; NULL: none */
    long checkpoint_every;  /* steps */
    int keep;               /* checkpoints */
};

extern const struct option_set train_option_set;

/* Parses argv, as option_set_parse() does, and checks the options. */
enum option_request train_options_read(int argc, char **argv, struct train_options *options,
                                       struct error *err);

#endif
