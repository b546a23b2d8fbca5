/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/explain/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_nodes(struct explain_step *step, struct error *err)
{
    if (hostlist_expand(step->nodes ? step->nodes : step->node, &step->node_list, err) < 0)
        return -1;
    for (size_t i = 0; i < step->node_list.count; i++)
        if (strcmp(step->node_list.names[i], step->node) == 0) {
            step->node_index = (long)i;
            return 0;
        }
    return error_set(err, "node %s is not among %s; set this node with --node", step->node,
                     step->nodes ? step->nodes : "the nodes");
}

/* Distributes tasks as Slurm's block distribution: if they do not divide evenly, the first nodes
 * have one task more. */
static int place_tasks(struct explain_step *step, const struct inventory *inventory,
                       struct error *err)
{
    long nodes = (long)step->node_list.count, more;

    if (step->ntasks < 0 && step->ntasks_per_node < 0)
        step->ntasks_per_node = inventory->gpu_count > 0 ? (long)inventory->gpu_count : 1;
    if (step->ntasks < 0)
        step->ntasks = nodes * step->ntasks_per_node;
    if (step->ntasks < nodes ||
        (step->ntasks_per_node >= 0 && step->ntasks > nodes * step->ntasks_per_node))
        return error_set(err, "%ld tasks on %ld nodes%s: not a valid step", step->ntasks, nodes,
                         step->ntasks < nodes ? "" : ", this many on each");
    if (step->ntasks_per_node >= 0 && step->ntasks == nodes * step->ntasks_per_node) {
        step->local_size = step->ntasks_per_node;
        step->first_rank = step->node_index * step->local_size;
        return 0;
    }
    more = step->ntasks % nodes;
    step->local_size = step->ntasks / nodes + (step->node_index < more);
    step->first_rank = step->node_index * (step->ntasks / nodes) +
                       (step->node_index < more ? step->node_index : more);
    return 0;
}

static int check_gpus(const struct explain_step *step, const struct inventory *inventory,
                      struct error *err)
{
    if (!step->gpus || strcmp(step->gpus, "none") == 0)
        return 0;
    if (strcmp(step->gpus, "each") == 0)
        return inventory->gpu_count > 0 && inventory->gpu_count % (size_t)step->local_size == 0
                   ? 0
                   : error_set(err, "--gpus=each: cannot divide %zu GPUs evenly among %ld tasks",
                               inventory->gpu_count, step->local_size);
    for (const char *at = step->gpus;; at++) {
        char *end;
        long gpu = strtol(at, &end, 10);

        if (end == at || *at < '0' || *at > '9' || (*end && *end != ','))
            return error_set(err, "--gpus %.64s: expected numbers such as 0,3, none or each",
                             step->gpus);
        if (gpu >= (long)inventory->gpu_count)
            return error_set(err, "--gpus %.64s: the node has %zu GPUs, numbered from 0",
                             step->gpus, inventory->gpu_count);
        if (!*end)
            return 0;
        at = end;
    }
}

int explain_step_prepare(struct explain_step *step, const struct inventory *inventory,
                         struct error *err)
{
    if (!step->node)
        step->node = inventory->hostname;
    if (!step->node[0])
        return error_set(err, "cannot determine the name of this node; set it with --node");
    if (check_nodes(step, err) < 0 || place_tasks(step, inventory, err) < 0)
        return -1;
    if (step->rank >= 0 &&
        (step->rank < step->first_rank || step->rank >= step->first_rank + step->local_size))
        return error_set(err, "rank %ld is not on %s, which has %ld to %ld", step->rank, step->node,
                         step->first_rank, step->first_rank + step->local_size - 1);
    return check_gpus(step, inventory, err);
}

void explain_step_clear(struct explain_step *step)
{
    hostlist_clear(&step->node_list);
}

static void put_number(struct explain_task *task, const char *name, long number)
{
    snprintf(task->numbers[task->number_count], sizeof task->numbers[0], "%s=%ld", name, number);
    task->number_count++;
}

static const char *find(char (*entries)[80], size_t count, const char *name, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(entries[i], name, length) == 0 && entries[i][length] == '=')
            return entries[i] + length + 1;
    return NULL;
}

/* Variables of --env come first, then those of Slurm, then, on this machine, those of the caller's
 * environment, but without those of a Slurm job that the caller is in. */
const char *explain_getenv(const char *name, void *context)
{
    struct explain_task *task = context;
    const struct explain_step *step = task->step;
    size_t length = strlen(name);
    const char *found;

    for (size_t i = step->variable_count; i-- > 0;)
        if (strncmp(step->variables[i], name, length) == 0 && step->variables[i][length] == '=')
            return step->variables[i] + length + 1;
    found = find(task->numbers, task->number_count, name, length);
    if (found)
        return found;
    if (task->local_rank >= 0 && strcmp(name, "SLURM_STEP_NODELIST") == 0)
        return step->nodes ? step->nodes : step->node;
    if (strcmp(name, "SLURMD_NODENAME") == 0)
        return step->node;
    if (strcmp(name, "SLURM_JOB_PARTITION") == 0)
        return step->partition;
    if (strcmp(name, "SLURM_JOB_ACCOUNT") == 0)
        return step->account;
    return step->root || strncmp(name, "SLURM", 5) == 0 ? NULL : getenv(name);
}

/* Finds the GPUs that the task's cgroup would let it open. */
static void choose_gpus(struct explain_task *task)
{
    const char *gpus = task->step->gpus;
    size_t share = task->inventory->gpu_count;

    if (gpus && strcmp(gpus, "none") == 0)
        return;
    if (gpus && strcmp(gpus, "each") == 0) {
        share /= (size_t)task->step->local_size;
        for (size_t i = 0; i < share && task->local_rank >= 0; i++)
            task->may_open[(size_t)task->local_rank * share + i] = true;
        return;
    }
    for (size_t i = 0; !gpus && i < share; i++)
        task->may_open[i] = true;
    for (const char *at = gpus; at; at = strchr(at, ','), at += at != NULL)
        task->may_open[strtol(at, NULL, 10)] = true;
}

static int may_open(const char *device_file, void *context)
{
    const struct explain_task *task = context;

    for (size_t i = 0; i < task->inventory->gpu_count; i++)
        if (strcmp(task->inventory->gpus[i].device_file, device_file) == 0)
            return task->may_open[i];
    return 1;
}

void explain_task_make(const struct explain_step *step, const struct inventory *inventory,
                       long local_rank, struct explain_task *task)
{
    memset(task, 0, sizeof *task);
    task->step = step;
    task->inventory = inventory;
    task->local_rank = local_rank;
    if (local_rank >= 0) {
        put_number(task, "SLURM_JOB_ID", step->job);
        put_number(task, "SLURM_STEP_ID", step->step);
        put_number(task, "SLURM_PROCID", step->first_rank + local_rank);
        put_number(task, "SLURM_LOCALID", local_rank);
        put_number(task, "SLURM_NODEID", step->node_index);
        put_number(task, "SLURM_NTASKS", step->ntasks);
        put_number(task, "SLURM_NNODES", (long)step->node_list.count);
    }
    choose_gpus(task);
    envplan_task_read(explain_getenv, task, &task->place);
    if (local_rank < 0) {
        task->place.launcher = ENVPLAN_MPI_DAEMON;
    } else {
        task->place.local_size = step->local_size;
        task->place.launcher = envplan_launcher(step->word_count, (char *const *)step->words,
                                                step->local_size, task->place.world_size);
    }
    visible_gpus_read(inventory, explain_getenv, task, may_open, task, &task->visible);
}
