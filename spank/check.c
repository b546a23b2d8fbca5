/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/check.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/base/hash.h"
#include "lib/base/node_name.h"
#include "lib/envplan/stepcheck.h"
#include "lib/node/device.h"

enum { PRINTED_LINES = 64 };

static struct {
    uint64_t *printed; /* hashes of the printed lines, in memory that all tasks of the step share;
                       0 is free */
} check;

static const char *lookup(const struct host_task *task, const char *name)
{
    return host_lookup(name, (void *)task->environment);
}

bool check_has_gpus(const struct host_task *step)
{
    return lookup(step, "SLURM_STEP_GPUS") != NULL;
}

void check_start(void)
{
    void *memory;

    check_end();
    memory = mmap(NULL, PRINTED_LINES * sizeof *check.printed, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check.printed = memory != MAP_FAILED ? memory : NULL;
}

/* Returns whether this task is to print the line: no other task has printed it, and there is a free
 * slot to record that. Without shared memory only the first task of the node prints. */
static bool claim_line(const struct host_task *task, const char *text)
{
    const char *local_rank = lookup(task, "SLURM_LOCALID");
    uint64_t hash = hash_text(HASH_BEGIN, text);

    if (check.printed == NULL)
        return local_rank != NULL && strcmp(local_rank, "0") == 0;
    for (size_t i = 0; i < PRINTED_LINES; i++) {
        uint64_t found = 0;

        if (__atomic_compare_exchange_n(&check.printed[i], &found, hash, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return true;
        if (found == hash)
            return false;
    }
    return false;
}

static int access_device(const char *device_file, void *root)
{
    return device_access(root, device_file);
}

static unsigned long long limit_of(rlim_t limit)
{
    return limit == RLIM_INFINITY ? ULLONG_MAX : limit;
}

static void facts_read(const struct host_task *task, struct stepcheck_facts *facts)
{
    struct rlimit limit;
    struct statvfs status;

    facts->memlock_bytes = ULLONG_MAX;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
        facts->memlock_bytes =
            stepcheck_memlock(lookup(task, "SLURM_RLIMIT_MEMLOCK"), limit_of(limit.rlim_cur),
                              limit_of(limit.rlim_max));
    facts->shared_memory_bytes = -1;
    if (facts->conf->shm_mb > 0 && statvfs("/dev/shm", &status) == 0)
        facts->shared_memory_bytes = (long long)status.f_blocks * (long long)status.f_frsize;
}

/* The environment that the task's program will have. */
struct planned {
    const struct host_task *task;
    const struct envplan *plan;
};

static const char *planned_lookup(const char *name, void *context)
{
    const struct planned *planned = context;

    for (size_t i = 0; i < planned->plan->count; i++) {
        const struct envplan_variable *variable = &planned->plan->variables[i];

        if (variable->action != ENVPLAN_KEEP && strcmp(variable->name, name) == 0)
            return variable->action == ENVPLAN_SET ? variable->value : NULL;
    }
    return lookup(planned->task, name);
}

void check_task(const char *root, const struct node_facts *node, const struct fabric *fabric,
                const struct envplan *plan, const struct host_task *task)
{
    struct planned planned = {task, plan};
    struct stepcheck_facts facts = {.conf = &node->conf,
                                    .inventory = node->inventory,
                                    .fabric = fabric,
                                    .gres = node->has_gres ? &node->gres : NULL,
                                    .getenv_fn = planned_lookup,
                                    .getenv_context = &planned,
                                    .access_fn = access_device,
                                    .access_context = (void *)root};
    const char *job = lookup(task, "SLURM_JOB_ID"), *step = lookup(task, "SLURM_STEP_ID");
    const char *rank = lookup(task, "SLURM_PROCID"), *name = lookup(task, "SLURMD_NODENAME");
    struct stepcheck found;
    char host[HOST_NAME_MAX + 1];

    facts_read(task, &facts);
    stepcheck_make(&facts, &found);
    host_name(host, sizeof host);
    for (size_t i = 0; i < found.count; i++)
        if (claim_line(task, found.problems[i]))
            host_print("%s: step %s.%s task %s: %s; see spank_muster(8)",
                       name != NULL ? name : host, job != NULL ? job : "?",
                       step != NULL ? step : "?", rank != NULL ? rank : "?", found.problems[i]);
}

void check_end(void)
{
    if (check.printed != NULL)
        munmap(check.printed, PRINTED_LINES * sizeof *check.printed);
    memset(&check, 0, sizeof check);
}
