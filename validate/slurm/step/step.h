/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STEP_H
#define MUSTER_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/hostlist.h"
#include "validate/slurm/step/process.h"

/* Runs steps in an allocation. Only this module builds command lines of srun. */

struct step {
    uint32_t job_id;
    const struct hostlist *nodes;
    const long *groups; /* of a heterogeneous job: srun's --het-group for each node; else NULL */
    int tasks_per_node;
    const char *name; /* of the step; NULL: all steps of the job are muster's */
    const char *mpi;  /* srun's --mpi; NULL: the cluster's default; "none" for what is not MPI */
    bool has_no_gres; /* requests no GPUs: a concurrent step uses them */
    long gpus; /* GPUs per node to request, as a step gets none without a request; 0: no request */
    bool has_labels;  /* each line says which task wrote it: labels.h */
    bool keeps_order; /* ranks follow the order of nodes, not of Slurm's table; for few nodes */
    bool prints_task_0_only; /* only the standard output of task 0 */
    const char *options;     /* more of srun's, words with blanks between; NULL: none */
    char *const *program;    /* path and arguments, ends with NULL */
};

/* Adds blank-separated words. */
void step_words_add(struct arguments *arguments, const char *words);

/* A container as in muster.conf's GpuContainer, NULL: none. step_container_options() returns its
 * options for srun, NULL if it has none; step_container_begin() adds what goes before a program's
 * path. */
const char *step_container_options(const char *container);
void step_container_begin(const char *container, struct arguments *program);

/* Runs one step; watching is as in process_run(), whose argv is filled here. A step of MPI programs
 * also gets a secret of its own in its environment. If the step did not end by itself, Slurm kills
 * its tasks as well. Returns 0, or -1 with err. */
int step_run(const struct step *step, const struct process *watching, struct process_result *result,
             struct error *err);

/* Makes the command line of srun that starts such a step, of few nodes and short arguments, for a
 * caller that runs it itself. Returns 0, or -1 with err. */
int step_command(const struct step *step, struct arguments *srun, struct error *err);

/* Runs the program with one task per node, in a small allocation next to running jobs. It preempts
 * no job and stays on this cluster of a federation; there srun asks slurmdbd for its cluster, and
 * fails if that is down. It gives up if the program does not start within wait_s. partition NULL:
 * the default. Its lines have labels (has_labels). Returns 0; 1 with err if it would preempt a job:
 * nothing was requested; -1 with err. */
int step_run_on(const struct hostlist *nodes, const char *partition, int wait_s,
                char *const *program, const struct process *watching, struct process_result *result,
                struct error *err);

/* Queries count nodes, starting at index first, in one step. Returns how many must be queried
 * again, and moves these to the front. is_last: they are not queried again. */
typedef size_t step_query_fn(size_t first, size_t count, bool is_last, void *context);
/* Queries nodes 0 to count - 1 in groups of some hundred. A node that keeps a step from starting is
 * found by halving: the rest of a group is queried again in halves, unless no node at all has
 * answered, or none of many in a row. */
void step_query_by_halves(size_t count, step_query_fn *query, void *context);

/* Removes the variables of Slurm's commands and daemons (SLURM_*, SLURMD_*, SALLOC_*, SRUN_*,
 * SBATCH_*) from our environment: settings of an administrator or of a surrounding job must not
 * affect the test. SLURM_CONF stays, and SLURM_CLUSTERS, which cluster_load() reads. */
void step_clean_environment(void);

/* Writes the path of one of muster's own programs: in the folder of this program, else in the
 * installation. */
void step_program_path(const char *name, char *path, size_t size);

/* Adds the command line "muster WORDS..."; a NULL ends the words. */
__attribute__((sentinel)) void step_add_muster(struct arguments *program, ...);

#endif
