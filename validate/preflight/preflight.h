/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PREFLIGHT_H
#define MUSTER_PREFLIGHT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/base/name_index.h"
#include "lib/conf/conf.h"
#include "validate/report/records.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/step/process.h"

/* One run of `muster preflight`: the battery's short form on the nodes of a job or step, by its
 * user, beside whatever else the job runs. Nothing is allocated, drained or certified. */

struct preflight_options {
    const char *nodes, *config_path, *json_path, *mpi; /* NULL: not given */
    uint32_t job_id, step_id;
    bool has_step;             /* --step, which the plugin gives */
    enum conf_preflight level; /* quick or standard */
    double budget_s;           /* 0: the configuration's */
    long keep;                 /* 0: not given */
    bool no_gpus;
};

/* A node of the job and its worst result. */
struct member {
    const char *name;
    struct cluster_node *slurm; /* NULL: the controller does not know it */
    long group;                 /* of a heterogeneous job: its component; else -1 */
    long gpus;                  /* of the job there that are to be tested */
    bool is_silent;             /* does not answer */
    enum verdict verdict;
    char test[64], part[64], message[256];
    double share;      /* of its worst rail: the figure over the nominal speed, or over the best
                          figure of any node; NAN: not measured */
    double latency_us; /* least, without pauses of the processes; NAN: not measured */
};

struct preflight {
    const char *command; /* "muster preflight" */
    struct preflight_options options;
    struct conf conf;
    double begin, budget_s; /* clock_s() */
    char run[64], step_name[96];
    struct cluster cluster;
    struct hostlist names;
    bool has_components;       /* the step is heterogeneous */
    struct member *members;    /* one for each name */
    struct name_index by_name; /* of the members */
    struct records records;
    FILE *json;
    struct hostlist faults; /* lines: each a node and its part at fault, or a fault of no node */
    struct hostlist notes;  /* lines that are no fault */
    bool has_fault;
    char unknown[320]; /* why the result is unknown; "": it is known */
    char reason[256];  /* why the last program has no result */
};

/* Set by SIGINT, SIGTERM, SIGHUP to the signal's number. */
extern volatile sig_atomic_t preflight_stop;

/* preflight.c */
/* Gives a node a verdict: as a record; from WARN on as a line of the faults (FAIL) or the notes;
 * and in its member if it is worse than the verdict there. code FAULT_NONE: that of the test. */
void preflight_add_verdict(struct preflight *preflight, struct member *member, enum verdict verdict,
                           enum fault_code code, const char *test, const char *part,
                           const char *message);
void preflight_set_unknown(struct preflight *preflight, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
double preflight_left_s(const struct preflight *preflight);

/* members.c: finds all nodes of the step or job, of all its components, or those that were named.
 * Asks the controller about the job only. Returns 0, or -1 with err. */
int preflight_members_find(struct preflight *preflight, struct error *err);
/* Asks the controller for the cluster, and finds the members in it. Returns 0, or -1 with err. */
int preflight_members_load(struct preflight *preflight, struct error *err);
struct member *preflight_member(const struct preflight *preflight, const char *name);
/* Sets names to the members that answer and have no fault so far. Release names. Returns their
 * number. */
size_t preflight_good(const struct preflight *preflight, struct hostlist *names);
/* Returns the group of each of these members for struct step, malloc'd. NULL if the job is not
 * heterogeneous, or if memory is out: then the step cannot start, and reports that itself. */
long *preflight_groups(const struct preflight *preflight, const struct hostlist *names);

/* preflight_run.c: queries the nodes, runs the battery, judges. The results are in the members,
 * faults and notes. */
void preflight_run(struct preflight *preflight);
/* A step of a program on those nodes. */
struct preflight_step {
    const struct hostlist *names;
    bool is_on_management; /* MPI uses the management network, because the rails may be faulty */
    long gpus;             /* GPUs to request on each node; 0: none */
    const char *container; /* as of step_container_options() */
    double limit_s;
    struct arguments *program;
};
/* Runs the step. Returns whether the program ran to its end on all of the nodes; if not,
 * preflight->reason says why. Its records begin at *first. Clears the step's program. */
bool preflight_step(struct preflight *preflight, const struct preflight_step *step, size_t *first);
/* Adds the path of the program and the options that all programs take. */
void preflight_program(const char *name, double limit_s, struct arguments *program);

/* preflight_gpus.c: loads the job's accelerators on the nodes that have no fault. */
void preflight_gpus(struct preflight *preflight);

/* spares.c: ranks the members by measured figures: the greatest share of its worst rail first, then
 * the least latency. Nodes that are equal within the limits of a measurement stay in their order. A
 * node with a fault, with an unknown result or without an answer is left out. indices: room for
 * count; set to indices of members, best first. Returns their number. Pure. */
size_t spares_rank(const struct member *members, size_t count, size_t *indices);

/* suspect_report.c: leaves a suspect report about each node with a fault, on that node or, if it
 * does not answer, on another one of the job. */
void preflight_report_suspects(struct preflight *preflight);

#endif
