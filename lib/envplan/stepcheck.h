/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STEPCHECK_H
#define MUSTER_STEPCHECK_H

#include "lib/conf/conf.h"
#include "lib/envplan/envplan.h"
#include "lib/fabric/fabric.h"
#include "lib/node/inventory.h"
#include "lib/slurm/gresconf.h"

/* Compares the devices that Slurm gave a task, the devices that its environment names and the
 * devices that it can open, before its program fails deep inside a library. spank_muster(8) has a
 * table of the problems. Pure: all inputs come in through struct stepcheck_facts. */

enum { STEPCHECK_PROBLEMS = 7 /* the most that one task can have */, STEPCHECK_TEXT = 448 };

/* As device_access() of lib/node/device.h: returns 0, an errno, or -1 if it is not known. */
typedef int stepcheck_access_fn(const char *device_file, void *context);

struct stepcheck_facts {
    const struct conf *conf;
    const struct inventory *inventory; /* fabric points into it */
    const struct fabric *fabric;
    const struct gres_devices *gres;  /* gres.conf's devices of this node; NULL: not known, or found
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

/* Finds these problems. What is not known is no problem.
 * - If Slurm gave the step GPUs (SLURM_STEP_GPUS, with --gpu-bind the task's own share): fewer GPUs
 *   of gres.conf, or else of the inventory, can be opened; a list such as CUDA_VISIBLE_DEVICES
 *   names others or leaves none (a list that leaves out some is the user's choice); a common file
 *   (/dev/kfd, /dev/nvidiactl, /dev/nvidia-uvm) cannot be opened.
 * - If the step has several nodes with an RDMA fabric: memlock_bytes is below MemlockMB; the verbs
 *   device of a rail that is up cannot be opened; on InfiniBand and RoCE, a variable makes UCX or
 *   NCCL use TCP; on RoCE, a variable names a GID index that a port does not have, or an index of
 *   RoCE v1 on a port that has v2.
 * - /dev/shm is smaller than ShmMB. */
void stepcheck_make(const struct stepcheck_facts *facts, struct stepcheck *check);

/* Returns the RLIMIT_MEMLOCK that the task's program will have. Slurm sets a propagated limit only
 * after a plugin's last hook, from SLURM_RLIMIT_MEMLOCK ("65536", or "U65536" if the user asked for
 * it). propagated is that variable's value or NULL. soft and hard are the present limits, with
 * RLIM_INFINITY as ULLONG_MAX. */
unsigned long long stepcheck_memlock(const char *propagated, unsigned long long soft,
                                     unsigned long long hard);

#endif
