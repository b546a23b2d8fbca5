/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLAN_FIGURES_H
#define MUSTER_PLAN_FIGURES_H

#include "lib/catalog/verdict.h"
#include "lib/conf/conf.h"
#include "validate/plan/model.h"

/* The figures of the cluster that a plan is based on, and the source of each: what was given, else
 * what muster-train measured, else what the history knows, and at last what others published. */

enum plan_figure_id {
    FIGURE_DEVICES,    /* per node */
    FIGURE_RATE,       /* of a device while it trains, TFLOP/s */
    FIGURE_LINK,       /* sent by a node, Gb/s */
    FIGURE_ACROSS,     /* ... to another island */
    FIGURE_MEMORY,     /* of a device, GB */
    FIGURE_BANDWIDTH,  /* of a device: its memory bandwidth, GB/s */
    FIGURE_FAILURES,   /* per 1000 node-days */
    FIGURE_REPAIR,     /* hours */
    FIGURE_RESTART,    /* seconds */
    FIGURE_CHECKPOINT, /* written by a node, GB/s */
    FIGURE_COUNT
};

struct plan_figure {
    const char *name, *unit;
    double value; /* NAN: not known */
    char source[200];
};

struct plan_node {
    char name[64];
    int island;           /* index in the cluster; -1: not used */
    enum verdict verdict; /* newest */
    char class[64];       /* of its fabric; "": not known */
    char leaf[64];        /* "": not known */
    double link_mbps, latency_us, memory_GBps,
        disk_MBps; /* sums over its parts; NAN: not measured */
    double core_gflops, bf16_gflops, fp32_gflops, gpus, gpu_mb, host_mb;
    double first;                  /* time of its first run */
    double link_time, memory_time; /* of the run that measured them last */
};

struct plan_figures {
    struct plan_figure figures[FIGURE_COUNT];
    struct plan_cluster cluster;
    struct plan_node *nodes; /* by name */
    size_t count;
    double failed, repaired, repair_s, node_s; /* sums over all nodes */
    bool is_on_hosts;                          /* the devices are the processors */
    double across_mbps;                        /* NAN: not measured */
    char slow_uplink[160];                     /* that the newest certification found; "": none */
};

struct plan_sources {
    const char *history;     /* database */
    const char *records;     /* what muster-train --dry-run --json printed; NULL: nothing */
    const struct conf *conf; /* Island= */
    const double *given;     /* FIGURE_COUNT; NAN: not given */
    size_t available;        /* nodes; 0: the nodes of the history that did not fail */
};

/* Reads the figures. Returns 0, or -1 with err: something cannot be read, or a figure that is
 * needed is not known (its option is named). Release with plan_figures_clear() in either case. */
int plan_figures_read(const struct plan_sources *sources, struct plan_figures *figures,
                      struct error *err);
void plan_figures_clear(struct plan_figures *figures);

#endif
