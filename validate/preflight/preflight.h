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
#include "validate/slurm/process.h"

/* One run of `muster preflight`: the battery's short form on the nodes of a job or step, by its
 * user, beside whatever else the job runs. Nothing is allocated, drained or certified. */

struct preflight_options {
    const char *nodes, *config_path, *json_path, *mpi; /* NULL: not given */
    uint32_t job_id, step_id;
    bool has_step;             /* --step: as the plugin asks */
    enum conf_preflight level; /* quick or standard */
    double budget_s;           /* 0: the configuration's */
    long keep;                 /* 0: not given */
    bool no_gpus;
};

/* A node of the job, and the worst that was seen of it. */
struct member {
    const char *name;
    struct cluster_node *slurm; /* NULL: the controller does not know it */
    long group;                 /* of a heterogeneous job: its component; else -1 */
    long gpus;                  /* of the job there that are to be tested */
    bool is_silent;             /* does not answer */
    enum verdict verdict;
    char test[64], part[64], message[256];
    double share;      /* of its worst rail's figure in the nominal speed, or in the best one's;
                          NAN: not measured */
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
    struct hostlist faults;  /* lines: a node and a part at fault each, or what is no node's */
    struct hostlist remarks; /* lines that hold up nothing */
    bool has_fault;
    char unknown[320]; /* why it cannot be told; "": it can */
    char reason[256];  /* why the last program cannot tell */
};

/* Set by SIGINT, SIGTERM, SIGHUP to the signal's number. */
extern volatile sig_atomic_t preflight_stop;

/* preflight.c */
/* Gives a node a verdict: in its member where it is worse than what is known, among the faults or
 * the remarks from a warning on, and as a record. code FAULT_NONE stands for that of the test. */
void preflight_blame(struct preflight *preflight, struct member *member, enum verdict verdict,
                     enum fault_code code, const char *test, const char *part, const char *message);
void preflight_set_unknown(struct preflight *preflight, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
double preflight_left_s(const struct preflight *preflight);

/* members.c: all nodes of the step or job, of all its components, or those of them that were named,
 * by what the controller knows of the job alone. Returns 0, or -1 with err. */
int preflight_members_find(struct preflight *preflight, struct error *err);
/* Asks the controller for the cluster, and finds the members in it. Returns 0, or -1 with err. */
int preflight_members_load(struct preflight *preflight, struct error *err);
struct member *preflight_member(const struct preflight *preflight, const char *name);
/* Those that answer and have no fault so far. Release names. Returns their number. */
size_t preflight_good(const struct preflight *preflight, struct hostlist *names);
/* For struct step: the group of each of these members, malloc'd. NULL where the job is not
 * heterogeneous, or memory is out: then the step cannot start, which it says itself. */
long *preflight_groups(const struct preflight *preflight, const struct hostlist *names);

/* preflight_run.c: asks the nodes, runs the battery, judges. All that is found is in the members.
 */
void preflight_run(struct preflight *preflight);
/* A step of a program on those nodes. */
struct preflight_step {
    const struct hostlist *names;
    bool is_on_management; /* its MPI, as where the rails are in doubt */
    long gpus;             /* asks for so many of each node; 0: has none */
    const char *container; /* as of step_container_options() */
    double limit_s;
    struct arguments *program;
};
/* Returns whether the program ran to its end on all of the nodes; else preflight->reason says what
 * was seen. Its records begin at *first. Clears the step's program. */
bool preflight_step(struct preflight *preflight, const struct preflight_step *step, size_t *first);
/* The program's path, and what all programs take. */
void preflight_program(const char *name, double limit_s, struct arguments *program);

/* preflight_gpus.c: loads the job's accelerators on the nodes that have no fault. */
void preflight_gpus(struct preflight *preflight);

/* spares.c: which `keep` of the members are best, by measured figures: the greatest share of its
 * worst rail first, then the least latency; nodes as good as each other within the limits of a
 * measurement stay in their order. A node with a fault or without an answer is never among them.
 * places: room for count; filled with indices of members, best first. Returns how many there are
 * to choose from. Pure. */
size_t spares_rank(const struct member *members, size_t count, size_t *places);

/* suspect_report.c: leaves a suspect report about each node with a fault on that node, or on
 * another of the job. */
void preflight_report_suspects(struct preflight *preflight);

#endif
