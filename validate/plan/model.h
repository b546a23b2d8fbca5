/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLAN_MODEL_H
#define MUSTER_PLAN_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"

/* How a training job is best laid out over a cluster, how long a step takes, and how much of its
 * time the job gets work done although nodes fail. Pure.
 *
 * A step (L layers of width h, V words, s tokens of context, B sequences, P parameters):
 *
 *   work       72 h^2 (1 + s / 6h) operations of a layer and 6 V h of the head for each token, a
 *              third more in layers whose activations are computed again (Narayanan et al., SC'21,
 *              5.1). Of a model of which only P is known: 6 P
 *   pipeline   all stages' times of a microbatch and m - 1 of the slowest's (step_time.h of the
 *              trainer); layers by the stages' speed (split.h)
 *   gradients  a rank sends 8 P (N - 1) / N bytes: they are reduced and spread in 32 bits. With
 *              ZeRO 16-bit parameters are spread instead, 6 P, with ZeRO-3 once more, 8 P, and 12 P
 *              where parameters have 32 bits (Rajbhandari et al.: ZeRO, SC'20, whose gradients have
 *              16). ZeRO-2 and 3 do so for each microbatch; a pipeline has neither. The devices of
 *              a node share its rails, and sum among themselves first: N are nodes. Links inside of
 *              nodes are not counted. The last backward pass, two thirds of a microbatch, hides
 *              them by the share `overlap` (Li et al.: PyTorch Distributed, VLDB 2020)
 *   update     AdamW, by the memory that it moves
 *   memory     16 P of state, part of it in shares (ZeRO), and 34 s h bytes of activations of a
 *              sequence and layer, in 32 bits 40; where they are computed again one layer's, and
 *              the inputs of the others (Korthikanti et al., 2022, without attention matrices)
 *
 * Failures (N nodes, each failing at rate f; M = 1 / N f; a checkpoint takes d, a restart R):
 *
 *   interval   sqrt(2 d M) (1 + sqrt(d / 2M) / 3 + d / 18M) - d; M where d >= 2 M
 *   goodput    t / (M e^(R/M) (e^((t + d)/M) - 1)) (Daly: A higher order estimate of the optimum
 *              checkpoint interval for restart dumps, 2006)
 *   spares     with S of them the job stands still while S + 1 nodes are in repair, each for a time
 *              W on average: Erlang's B of S + 1 servers and load N f W, whatever the distribution
 *              of W (Sevastyanov, 1957)
 */

enum { PLAN_ISLANDS_MOST = 16, PLAN_STAGES_MOST = 64 };

/* Nodes that reach each other over one network. */
struct plan_island {
    char name[64];
    size_t nodes;
    double flops;               /* of a device while it trains, operations a second */
    double node_Bps, latency_s; /* sent by a node, over all of its rails, while all nodes send */
};

struct plan_cluster {
    struct plan_island islands[PLAN_ISLANDS_MOST];
    int island_count;
    double across_Bps,
        across_s;        /* the same between islands; 0 bytes: they do not reach each other */
    int devices;         /* per node */
    double memory_bytes; /* of a device */
    double memory_Bps;   /* memory bandwidth of a device; INFINITY: updates take no time */
    double failures;     /* per node and second */
    double repair_s, restart_s;
    double checkpoint_Bps; /* written by a node */
};

struct plan_job {
    double parameters;
    int layers;
    double width, context, vocabulary; /* vocabulary 0: work is 6 P */
    double batch;                      /* sequences of a step */
    double microbatch;                 /* ... that a device computes at once */
    double steps;
    bool is_fp32;
    double overlap;      /* 0 to 1 */
    double checkpoint_s; /* 0: by the cluster's checkpoint_Bps */
    size_t nodes;        /* 0: as many as are worth it */
    double within_s;     /* INFINITY: no limit */
    int spares;          /* -1: as many as it takes */
};

struct plan_failures {
    double mttf_s, checkpoint_s, interval_s;
    double goodput; /* share of the time that is new work, after failures and waits for repair */
    double waiting; /* share of the time without enough nodes */
    int spares;
};

struct plan_layout {
    size_t nodes; /* that compute, without spares */
    int devices;  /* that the job has on each of them */
    int stages, islands[PLAN_STAGES_MOST], layers[PLAN_STAGES_MOST]; /* of each stage */
    size_t stage_nodes;
    bool is_across; /* one stage over all islands */
    int zero;       /* 0 to 3 */
    bool recomputes;
    int microbatches;
    double microbatch;                  /* sequences of each, on average */
    double memory_bytes;                /* that a device needs */
    double compute_s, sums_s, update_s; /* of a step; sums: what nothing hides */
    double step_s, tokens_per_s, busy;  /* busy: share of what all devices could compute */
    struct plan_failures failures;
    double finish_s; /* of all steps, with failures */
};

/* Returns the number of parameters of a GPT of that shape. */
double plan_parameters(const struct plan_job *job);
/* Returns the operations of a step. */
double plan_work(const struct plan_job *job);

/* Returns the mean time to failure of so many nodes, INFINITY without failures. */
double plan_mttf_s(double nodes, double failures);
double plan_interval_s(double checkpoint_s, double mttf_s);
/* Returns Daly's share of new work at that interval between checkpoints. */
double plan_goodput(double interval_s, double checkpoint_s, double restart_s, double mttf_s);
/* Returns the share of the time that a job on so many nodes stands still with those spares. */
double plan_waiting(double nodes, double failures, double repair_s, int spares);

/* Fills in what follows from nodes, devices, stages with their islands, stage_nodes and is_across.
 * Returns false if the layout does not fit into memory, has fewer layers or sequences than it
 * needs, or uses islands that do not reach each other. */
bool plan_evaluate(const struct plan_cluster *cluster, const struct plan_job *job,
                   struct plan_layout *layout);

/* Chooses the best layout: one device for a small job; the number of nodes that is requested; the
 * fewest that end the job within its time; else the most that are worth it. Of layouts with as many
 * nodes, the one that ends first. Returns 0, or -1 with err if none fits. */
int plan_choose(const struct plan_cluster *cluster, const struct plan_job *job,
                struct plan_layout *layout, struct error *err);

#endif
