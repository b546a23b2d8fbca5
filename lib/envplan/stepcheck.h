/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STEPCHECK_H
#define MUSTER_STEPCHECK_H

#include "lib/conf/conf.h"
#include "lib/envplan/envplan.h"
#include "lib/fabric/fabric.h"
#include "lib/slurm/gresconf.h"
#include "lib/node/inventory.h"

/* What a step's task was given, what its environment names and what it can open, compared before
 * its program finds out deep inside a library. spank_muster(8) has the table of what can be said.
 * Pure: everything that is asked comes in through struct stepcheck_facts. */

enum { STEPCHECK_PROBLEMS = 7 /* as many can be said of one task */, STEPCHECK_TEXT = 448 };

/* As device_access() of lib/node/device.h: 0, an errno, or -1 when it cannot be told. */
typedef int stepcheck_access_fn(const char *device_file, void *context);

struct stepcheck_facts {
    const struct conf *conf;
    const struct inventory *inventory; /* the one that fabric points into */
    const struct fabric *fabric;
    const struct gres_devices *gres;  /* gres.conf's devices of this node; NULL: not told, or found
                                         by AutoDetect */
    unsigned long long memlock_bytes; /* RLIMIT_MEMLOCK; ULLONG_MAX unlimited */
    long long shared_memory_bytes;    /* size of /dev/shm; -1 not known */
    envplan_getenv_fn *getenv_fn;     /* the task's environment */
    void *getenv_context;
    stepcheck_access_fn *access_fn;
    void *access_context;
};

struct stepcheck {
    size_t count;
    char problems[STEPCHECK_PROBLEMS][STEPCHECK_TEXT]; /* each one line without control characters:
                                                          found, expected, next step */
};

/* Compares. Nothing is said of what cannot be told.
 * - GPUs, for a step that Slurm gave some (SLURM_STEP_GPUS, which has a task's own share where
 *   --gpu-bind deals them out): fewer that can be opened, in gres.conf's list or else the
 *   inventory's; a list such as CUDA_VISIBLE_DEVICES that names others or leaves none (a list that
 *   leaves out some is the user's choice); /dev/kfd, /dev/nvidiactl or /dev/nvidia-uvm refused.
 * - Where a step of several nodes meets an RDMA fabric: memlock_bytes below MemlockMB; the verbs
 *   devices of rails that are up; on InfiniBand and RoCE a variable by which UCX or NCCL uses TCP
 *   all the same; on RoCE a GID index that a port has not, or that is RoCE v1 where it has v2.
 * - /dev/shm smaller than ShmMB. */
void stepcheck_make(const struct stepcheck_facts *facts, struct stepcheck *check);

/* The RLIMIT_MEMLOCK that the task's program will have: Slurm sets what it propagates only after a
 * plugin's last hook, from SLURM_RLIMIT_MEMLOCK ("65536", "U65536" where the user asked for it).
 * propagated is that variable's value or NULL, soft and hard the limits now, RLIM_INFINITY as
 * ULLONG_MAX. */
unsigned long long stepcheck_memlock(const char *propagated, unsigned long long soft,
                                     unsigned long long hard);

#endif
