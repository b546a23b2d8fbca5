/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STEP_H
#define MUSTER_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/hostlist.h"
#include "validate/slurm/process.h"

/* The steps that run in an allocation: the only place with the command line of srun. */

struct step {
    uint32_t job_id;
    const struct hostlist *nodes;
    const long *groups; /* of a heterogeneous job: srun's --het-group for each node; else NULL */
    int tasks_per_node;
    const char *name; /* of the step; NULL: the job is ours, and so is each of its steps */
    const char *mpi;  /* srun's --mpi; NULL: the cluster's default; "none" for what is not MPI */
    bool has_no_gres; /* asks for none of the job's GPUs: what runs beside has them */
    long gpus;        /* asks for so many of each node, without which a step in a job of whole nodes
                         has none; 0: asks for nothing */
    bool has_labels;  /* each line says which task wrote it: labels.h */
    bool keeps_order; /* ranks go to the nodes as these are listed, not in the order of Slurm's
                         table; for few nodes */
    bool is_of_first; /* of standard output only what task 0 writes */
    const char *options;  /* more of srun's, words with blanks between; NULL: none */
    char *const *program; /* path and arguments, ends with NULL */
};

/* Adds each of the words, which have blanks between. */
void step_words_add(struct arguments *arguments, const char *words);

/* A container by muster.conf's GpuContainer, NULL: none. Its options for srun, NULL where it has
 * none; and what of it goes before a program's path. */
const char *step_container_options(const char *container);
void step_container_begin(const char *container, struct arguments *program);

/* Runs one step; watching is as in process_run(), whose argv is filled here. A step of MPI programs
 * has a secret of its own in its environment besides. When the step did not end by itself its tasks
 * are killed by Slurm as well. */
int step_run(const struct step *step, const struct process *watching, struct process_result *result,
             struct error *err);

/* The command line of srun that starts such a step, of few nodes and short arguments, for a caller
 * that runs it itself. Returns 0, or -1 with err. */
int step_command(const struct step *step, struct arguments *srun, struct error *err);

/* Runs the program as one task on each of the nodes in a small allocation of its own beside
 * whatever runs there, for which no job is preempted; gives up when it does not start within
 * wait_s. partition NULL: the default one. Its lines have labels (has_labels). Returns 0; 1 with
 * err when that would preempt a job, and none of ours was asked for; -1 with err. */
int step_run_on(const struct hostlist *nodes, const char *partition, int wait_s,
                char *const *program, const struct process *watching, struct process_result *result,
                struct error *err);

/* Asks count of the nodes, the first of which has that number, by one step. Returns how many are to
 * be asked again, and puts these first; is_last: they will not be. */
typedef size_t step_query_fn(size_t first, size_t count, bool is_last, void *context);
/* Asks nodes 0 to count - 1 in groups of some hundred: a node that keeps a step from starting is
 * found by halves, in which the others are asked again; but not where none at all has answered, or
 * none of many in a row. */
void step_by_halves(size_t count, step_query_fn *query, void *context);

/* Takes the variables of Slurm's commands and daemons (SLURM_*, SLURMD_*, SALLOC_*, SRUN_*,
 * SBATCH_*) out of our environment: an administrator's habits, or a job that we were started in,
 * must not shape the test. But for SLURM_CONF, and SLURM_CLUSTERS, which cluster_load() looks at.
 */
void step_clean_environment(void);

/* The path of one of muster's own programs: beside this one, else where it was installed. */
void step_program_path(const char *name, char *path, size_t size);

/* The command line "muster WORDS..."; a NULL ends the words. */
__attribute__((sentinel)) void step_muster(struct arguments *program, ...);

#endif
