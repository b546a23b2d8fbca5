/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_SPANK_HOST_LIFE_H
#define MUSTER_TESTS_SPANK_HOST_LIFE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The whole life of a job as one of its nodes sees it, each part in a process of its own with
 * Slurm's order of hooks, user and environment: slurmd; the front (srun, sbatch or salloc);
 * job_prolog; the extern step; for sbatch and salloc the batch or interactive step and an srun in
 * its environment; the step itself, a process for each task; job_epilog. */

enum life_front { FRONT_SRUN, FRONT_SBATCH, FRONT_SALLOC };
enum { LIFE_TASKS = 4 };

struct life {
    const char *name;
    enum life_front front;
    const char *options;      /* on the front's command line: "muster=on\nmuster-explain" */
    const char *step_options; /* on that of the srun within sbatch or salloc */
    const char *environment;  /* the user's: "NAME=value\nNAME=value" */
    const char *spank;        /* what the user made of SPANK_..., for the prolog */
    const char *conf;         /* muster.conf; NULL: there is none */
    const char *words;        /* of plugstack.conf behind config=...: "root=/x y" */
    const char *argv;         /* the step's program: "torchrun -x"; NULL: ./a.out */
    int tasks;                /* on this node, the second of two; 0: two */
    int component_first; /* above 0: the step's is a heterogeneous job's second component, whose
                            first rank is this one */
    bool is_export_none; /* --export=NONE: of the user's only SLURM_... comes along */
    bool is_listed_twice;
    bool is_callback_twice; /* before 24.05: options from the launch message and the environment */
    bool is_root;           /* the job's owner */
    int api_fails_at;       /* this call of spank.h in each process fails; 0: none */
};

/* "NAME=value", each with a NUL behind; the rest of the memory is not touched. */
struct life_environment {
    size_t length;
    char text[1 << 21];
};

struct outcome {
    int front, step_front; /* worst status of their hooks and callbacks: 0 or -1 */
    int prolog, epilog;
    int remote_option; /* worst status of a callback on the node */
    bool has_step;     /* false: the front or the prolog stopped the job */
    int task_count;
    struct life_environment user, shell, tasks[LIFE_TASKS];
    char broken[8192];  /* what broke a rule of watch.h, a line each; "" all well */
    char printed[2048]; /* the begin of what was written to standard output and error */
    char launch[4096];
    unsigned crashed; /* processes that did not end by themselves */
};

/* Sets what every life uses: the plugin, and a directory for muster.conf. with_leaks: a build with
 * AddressSanitizer looks for lost memory at the end of each process, which takes some 20 ms. */
void life_use(const char *plugin_path, const char *directory, bool with_leaks);

/* Lives it. The outcome is static, in shared memory, and good until the next. host_log has the
 * messages of all its processes. */
const struct outcome *life_run(const struct life *life);

/* The value of a variable in a task's environment, or NULL. */
const char *life_getenv(const struct life_environment *environment, const char *name);

/* Runs body in a process of its own under the watch, for parts of a life; what breaks a rule goes
 * to the outcome, which life_begin() empties. life_end() fetches what was printed. */
struct outcome *life_begin(void);
void life_end(void);
void life_process(const char *title, void (*body)(const struct life *life),
                  const struct life *life);

/* The parts, for life_process(). */
void life_slurmd(const struct life *life);
void life_front(const struct life *life);
void life_prolog(const struct life *life);
void life_epilog(const struct life *life);
void life_extern(const struct life *life);
void life_shell(const struct life *life); /* batch or interactive step */
void life_inner_srun(const struct life *life);
void life_step(const struct life *life);

#endif
