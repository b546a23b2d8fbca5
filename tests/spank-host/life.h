/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_SPANK_HOST_LIFE_H
#define MUSTER_TESTS_SPANK_HOST_LIFE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The whole life of a job as one of its nodes sees it. Each part runs in its own process, with the
 * order of hooks, the user and the environment that Slurm gives it: slurmd; the front (srun, sbatch
 * or salloc); job_prolog; the extern step; for sbatch and salloc the batch or interactive step and
 * an srun in its environment; the step, with a process for each task; job_epilog. */

enum life_front { FRONT_SRUN, FRONT_SBATCH, FRONT_SALLOC };
enum { LIFE_TASKS = 4 };

struct life {
    const char *name;
    enum life_front front;
    const char *options;      /* of the front: "muster=on\nmuster-explain" */
    const char *step_options; /* of the srun inside sbatch or salloc */
    const char *environment;  /* of the user: "NAME=value\nNAME=value" */
    const char *spank;        /* variables that the prolog gets, SPANK_... as the user set them */
    const char *conf;         /* text of muster.conf; NULL: no muster.conf */
    const char *plugstack_arguments; /* of plugstack.conf after config=...: "root=/x y" */
    const char *argv;                /* command line of the step: "torchrun -x"; NULL: ./a.out */
    int tasks;                       /* on this node, the second of two; 0: two tasks */
    int component_first; /* above 0: the step is the second component of a heterogeneous job, and
                            this is its first rank */
    bool is_export_none; /* --export=NONE: only SLURM_... of the user's environment is kept */
    bool is_listed_twice;
    bool is_callback_twice; /* as before Slurm 24.05: callbacks get the options of the launch
                               message and again those of the environment */
    bool is_root;           /* whether the job is root's */
    int api_fails_at;       /* the call of spank.h that fails in each process; 0: none */
};

/* Entries "NAME=value", each with a NUL at its end. Memory after length is not touched. */
struct life_environment {
    size_t length;
    char text[1 << 21];
};

struct outcome {
    int front, step_front; /* worst status of hooks and callbacks in the front and in the srun
                              inside sbatch or salloc: 0 or -1 */
    int prolog, epilog;
    int remote_option; /* worst status of option callbacks on the node */
    bool has_step;     /* false: a front or the prolog stopped the job */
    int task_count;
    struct life_environment user, shell, tasks[LIFE_TASKS];
    char broken[8192];  /* violations of the rules of watch.h, one line each; "": none */
    char printed[2048]; /* the beginning of standard output and error */
    char launch[4096];
    unsigned crashed; /* processes that crashed, hung or exited with another status than 0 */
};

/* Sets what every life uses: the plugin, and the directory of muster.conf. with_leaks: a build with
 * AddressSanitizer searches for leaks at the end of each process, which takes some 20 ms. */
void life_use(const char *plugin_path, const char *directory, bool with_leaks);

/* Runs a life. The outcome is static, in shared memory, and valid until the next call. host_log
 * has the messages of all processes. */
const struct outcome *life_run(const struct life *life);

/* The value of a variable in this environment, or NULL. */
const char *life_getenv(const struct life_environment *environment, const char *name);

/* To run parts of a life: life_begin() empties the outcome, life_process() runs body in a process
 * of its own with the checks of watch.h and adds violations to the outcome, life_end() sets
 * printed. */
struct outcome *life_begin(void);
void life_end(void);
void life_process(const char *title, void (*body)(const struct life *life),
                  const struct life *life);

/* The parts of a life: bodies for life_process(). */
void life_slurmd(const struct life *life);
void life_front(const struct life *life);
void life_prolog(const struct life *life);
void life_epilog(const struct life *life);
void life_extern(const struct life *life);
void life_shell(const struct life *life); /* batch or interactive step */
void life_inner_srun(const struct life *life);
void life_step(const struct life *life);

#endif
