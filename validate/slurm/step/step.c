/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/step/step.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "lib/base/grow.h"
#include "lib/base/memory_stream.h"
#include "lib/constants/slurm_constants.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/job/preempts.h"
#include "validate/slurm/job/user.h"
#include "validate/slurm/step/long_list.h"

/* srun's command line, and values that do not fit on it. */
struct command {
    struct arguments srun;
    int *files; /* of node lists, open until srun has ended */
    size_t file_count;
    char *input; /* long values for the program's standard input, one per line, or NULL */
};

static void command_clear(struct command *command)
{
    arguments_clear(&command->srun);
    for (size_t i = 0; i < command->file_count; i++)
        close(command->files[i]);
    free(command->files);
    free(command->input);
    *command = (struct command){0};
}

/* Returns 0, or -1 with err. */
static int nodelist_add(struct command *command, const struct hostlist *nodes, struct error *err)
{
    char *folded = hostlist_fold_for_slurm(nodes);
    int rv = 0;

    if (!folded)
        return error_set(err, "out of memory for a step on %zu nodes", nodes->count);
    if (!long_list_exceeds_limit(folded)) {
        arguments_add(&command->srun, "--nodelist=%s", folded);
    } else if (!GROW(command->files, command->file_count)) {
        rv = error_set(err, "out of memory for a step on %zu nodes", nodes->count);
    } else {
        rv = command->files[command->file_count] = long_list_file(nodes, err);
        if (rv >= 0)
            arguments_add(&command->srun, "--nodelist=/proc/self/fd/%d",
                          command->files[command->file_count++]);
    }
    free(folded);
    return rv < 0 ? -1 : 0;
}

/* Returns 0, or -1 with err. */
static int input_add(struct command *command, const char *value, struct error *err)
{
    char *longer = NULL;

    if (asprintf(&longer, "%s%s\n", command->input ? command->input : "", value) < 0)
        return error_set(err, "out of memory for the arguments of a step");
    free(command->input);
    command->input = longer;
    return 0;
}

/* Adds the program's words; values that are too long go to its standard input. Components share one
 * standard input, and each reads a part of it, so no value can be passed to all of them. Returns 0,
 * or -1 with err. */
static int program_add(struct command *command, char *const *program, bool is_heterogeneous,
                       struct error *err)
{
    for (int i = 0; program[i]; i++) {
        const char *value = long_list_value(program[i]);
        int name_length = value ? (int)(value - program[i]) : 0;

        if (value && is_heterogeneous)
            return error_set(err, "the value of %.*s... has %zu bytes, too many for srun",
                             name_length, program[i], strlen(value));
        if (!value)
            arguments_add(&command->srun, "%s", program[i]);
        else if (input_add(command, value, err) == 0)
            arguments_add(&command->srun, "%.*s-", name_length, program[i]);
        else
            return -1;
    }
    return command->srun.out_of_memory ? error_set(err, "out of memory for the arguments of a step")
                                       : 0;
}

/* Adds the nodes in the given order, once per task. */
static int nodes_add_in_order(const struct step *step, const struct hostlist *nodes,
                              struct command *command, struct error *err)
{
    char *list = NULL;
    size_t size;
    FILE *stream = memory_stream(&list, &size);

    if (!stream)
        return error_set(err, "out of memory for a step on %zu nodes", nodes->count);
    for (size_t i = 0; i < nodes->count; i++)
        for (int task = 0; task < step->tasks_per_node; task++)
            fprintf(stream, "%s%s", i + (size_t)task > 0 ? "," : "", nodes->names[i]);
    if (fclose(stream) == 0)
        arguments_add(&command->srun, "--nodelist=%s", list);
    else
        command->srun.out_of_memory = true;
    free(list);
    return 0;
}

void step_words_add(struct arguments *arguments, const char *words)
{
    for (; *words; words += strcspn(words, " \t")) {
        words += strspn(words, " \t");
        if (*words)
            arguments_add(arguments, "%.*s", (int)strcspn(words, " \t"), words);
    }
}

const char *step_container_options(const char *container)
{
    return container && strncmp(container, "--", 2) == 0 ? container : NULL;
}

void step_container_begin(const char *container, struct arguments *program)
{
    if (container && !step_container_options(container))
        step_words_add(program, container);
}

/* Adds the command line of one component, on these of the step's nodes; group -1: of the whole
 * step. */
static int component_add(const struct step *step, const struct hostlist *nodes, long group,
                         struct command *command, struct error *err)
{
    struct arguments *srun = &command->srun;

    if (group >= 0)
        arguments_add(srun, "--het-group=%ld", group);
    if ((step->keeps_order ? nodes_add_in_order(step, nodes, command, err)
                           : nodelist_add(command, nodes, err)) != 0)
        return -1;
    arguments_add(srun, "--nodes=%zu-%zu", nodes->count, nodes->count);
    arguments_add(srun, "--ntasks=%zu", nodes->count * (size_t)step->tasks_per_node);
    arguments_add(srun, "--ntasks-per-node=%d", step->tasks_per_node);
    arguments_add(srun, "--distribution=%s", step->keeps_order ? "arbitrary" : "block");
    arguments_add(srun, "--overlap"); /* does not wait for a step that hangs */
    arguments_add(srun, "--mem=0");
    arguments_add(srun, "--cpu-bind=none");
    if (step->name)
        arguments_add(srun, "--job-name=%s", step->name);
    if (step->has_no_gres)
        arguments_add(srun, "--gres=none");
    if (step->gpus > 0)
        arguments_add(srun, "--gres=gpu:%ld", step->gpus);
    arguments_add(srun, "--no-kill");
    arguments_add(srun, "--kill-on-bad-exit=0"); /* our programs report a dead rank first */
    arguments_add(srun, "--chdir=/");
    arguments_add(srun, "--export=ALL");
    if (step->has_labels)
        arguments_add(srun, "--label");
    if (step->prints_task_0_only) {
        arguments_add(srun, "--output=0");
        arguments_add(srun, "--error=all"); /* its default is the value of --output */
    }
    if (step->mpi)
        arguments_add(srun, "--mpi=%s", step->mpi);
    if (step->options)
        step_words_add(srun, step->options);
    return program_add(command, step->program, group >= 0, err);
}

/* Returns the least group of the step above `group`; -1: there is none. */
static long next_group(const struct step *step, long group)
{
    long next = -1;

    for (size_t i = 0; i < step->nodes->count; i++)
        if (step->groups[i] > group && (next < 0 || step->groups[i] < next))
            next = step->groups[i];
    return next;
}

/* Returns 0, or -1 with err. */
static int command_make(const struct step *step, struct command *command, struct error *err)
{
    int rv = 0;

    arguments_add(&command->srun, "srun");
    arguments_add(&command->srun, "--jobid=%u", step->job_id);
    if (!step->groups)
        rv = component_add(step, step->nodes, -1, command, err);
    for (long group = step->groups ? next_group(step, -1) : -1; rv == 0 && group >= 0;) {
        struct hostlist nodes = {0};

        for (size_t i = 0; rv == 0 && i < step->nodes->count; i++)
            if (step->groups[i] == group && hostlist_append(&nodes, step->nodes->names[i]) != 0)
                rv = error_set(err, "out of memory for a step on %zu nodes", step->nodes->count);
        if (rv == 0)
            rv = component_add(step, &nodes, group, command, err);
        hostlist_clear(&nodes);
        group = next_group(step, group);
        if (group >= 0)
            arguments_add(&command->srun, ":");
    }
    if (rv == 0 && command->srun.out_of_memory)
        rv = error_set(err, "out of memory for a step on %zu nodes", step->nodes->count);
    return rv;
}

/* Runs srun. Its standard input must not end before the step: at end of input, srun sends a message
 * to each slurmstepd. After a quick task, slurmstepd may have ended and resets the connection. srun
 * then loses that node's output and kills the tasks of the other nodes. Neither /dev/null nor
 * --input=none helps. Exception: srun of several components (22.05) may hang or die at its end
 * while its input is open (4 of 20 runs). */
static int srun_run(const struct process *watching, const struct command *command,
                    bool is_heterogeneous, struct process_result *result, struct error *err)
{
    struct process process = *watching;

    if (process.input && command->input)
        return error_set(err, "a value is too long for a program that has other input");
    if (command->input)
        process.input = command->input;
    process.argv = command->srun.argv;
    process.holds_input = !process.input && !is_heterogeneous;
    return process_run(&process, result, err);
}

/* Cancels the step in all components: the components of a heterogeneous job have consecutive job
 * IDs. */
static void step_cancel(const struct step *step)
{
    cluster_job_cancel_steps(step->job_id, step->name, NULL);
    for (long group = step->groups ? next_group(step, 0) : -1; group > 0;
         group = next_group(step, group))
        cluster_job_cancel_steps(step->job_id + (uint32_t)group, step->name, NULL);
}

enum { ENTRIES = 32, SECRET_BYTES = 32 };

/* Adds the secret that authenticates the ranks of this step to each other
 * (validate/harness/watch/admission.h): only in the environment, never on a command line, in a
 * record or in a log. Returns 0, or -1 with err. */
static int add_secret(const struct process *watching, char *text, size_t size,
                      const char *entries[ENTRIES], struct error *err)
{
    unsigned char bytes[SECRET_BYTES];
    size_t count = 0, length = (size_t)snprintf(text, size, "MUSTER_SECRET=");

    while (watching->environment && watching->environment[count] && count < ENTRIES - 2) {
        entries[count] = watching->environment[count];
        count++;
    }
    if (watching->environment && watching->environment[count])
        return error_set(err, "more than %d variables for a step", ENTRIES - 2);
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return error_set(err, "cannot get random bytes for a step's secret: %m");
    for (size_t i = 0; i < sizeof bytes; i++)
        length += (size_t)snprintf(text + length, size - length, "%02x", bytes[i]);
    entries[count] = text;
    entries[count + 1] = NULL;
    return 0;
}

int step_run(const struct step *step, const struct process *watching, struct process_result *result,
             struct error *err)
{
    bool is_mpi = !step->mpi || strcmp(step->mpi, "none") != 0;
    struct process process = *watching;
    const char *entries[ENTRIES];
    struct command command = {0};
    char secret[80];
    int rv;

    if (is_mpi && add_secret(watching, secret, sizeof secret, entries, err) != 0)
        return -1;
    if (is_mpi)
        process.environment = entries;
    rv = command_make(step, &command, err);
    if (rv == 0)
        rv = srun_run(&process, &command, step->groups != NULL, result, err);
    if (rv == 0 && (result->end != PROCESS_EXITED || result->has_hung))
        step_cancel(step);
    command_clear(&command);
    return rv;
}

int step_command(const struct step *step, struct arguments *srun, struct error *err)
{
    struct command command = {0};
    int rv = command_make(step, &command, err);

    if (rv == 0) {
        *srun = command.srun;
        command.srun = (struct arguments){0};
    }
    command_clear(&command);
    return rv;
}

int step_run_on(const struct hostlist *nodes, const char *partition, int wait_s,
                char *const *program, const struct process *watching, struct process_result *result,
                struct error *err)
{
    struct command command = {0};
    struct arguments *srun = &command.srun;
    char cluster[256];
    int rv;

    if (preempts(nodes, partition)) {
        error_set(err, "Slurm would preempt a job there");
        return 1;
    }
    if (cluster_federated_name(cluster, sizeof cluster, err) != 0)
        return -1;
    arguments_add(srun, "srun");
    if (*cluster) /* else srun would query slurmdbd in vain */
        arguments_add(srun, "--clusters=%s", cluster);
    rv = nodelist_add(&command, nodes, err);
    arguments_add(srun, "--nodes=%zu", nodes->count);
    arguments_add(srun, "--ntasks=%zu", nodes->count);
    arguments_add(srun, "--ntasks-per-node=1");
    arguments_add(srun, "--label");
    if (partition)
        arguments_add(srun, "--partition=%s", partition);
    arguments_add(srun, "--immediate=%d", wait_s);
    arguments_add(srun, "--mem=%d", STEP_ON_MB);
    arguments_add(srun, "--time=%d", STEP_ON_MIN);
    arguments_add(srun, "--job-name=muster");
    arguments_add(srun, "--chdir=/");
    arguments_add(srun, "--mpi=none");
    if (rv == 0)
        rv = program_add(&command, program, false, err);
    if (rv == 0)
        rv = srun_run(watching, &command, false, result, err);
    command_clear(&command);
    return rv;
}

struct halves {
    step_query_fn *query;
    void *context;
    int failures; /* in a row */
    bool has_answered;
};

/* Returns whether the failures seem to have a common cause: no node has answered at all, or many in
 * a row have not. */
static bool is_common_cause(const struct halves *halves)
{
    return halves->failures >= (halves->has_answered ? 2 * STEP_GROUP_NODES : STEP_FAILURES_MOST);
}

static void group_query(struct halves *halves, size_t first, size_t count)
{
    bool is_last = count == 1 || is_common_cause(halves);
    size_t unanswered = count > 0 ? halves->query(first, count, is_last, halves->context) : 0;

    if (count == 0)
        return;
    halves->failures = unanswered < count ? 0 : halves->failures + 1;
    halves->has_answered |= unanswered < count;
    if (is_last || unanswered == 0)
        return;
    group_query(halves, first, unanswered / 2);
    group_query(halves, first + unanswered / 2, unanswered - unanswered / 2);
}

void step_query_by_halves(size_t count, step_query_fn *query, void *context)
{
    struct halves halves = {query, context, 0, false};

    for (size_t first = 0; first < count; first += STEP_GROUP_NODES)
        group_query(&halves, first,
                    count - first < STEP_GROUP_NODES ? count - first : STEP_GROUP_NODES);
}

static bool is_no_setting(const char *entry)
{
    static const char *const removed[] = {"SLURM_", "SLURMD_", "SALLOC_", "SRUN_", "SBATCH_"},
                             *const kept[] = {"SLURM_CONF=", "SLURM_CLUSTERS="};

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strncmp(entry, kept[i], strlen(kept[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++)
        if (strncmp(entry, removed[i], strlen(removed[i])) == 0)
            return false;
    return true;
}

void step_clean_environment(void)
{
    user_keep_environment(is_no_setting);
}

void step_program_path(const char *name, char *path, size_t size)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    if (length > 0) {
        self[length] = '\0';
        slash = strrchr(self, '/');
        if (slash) {
            *slash = '\0';
            if (snprintf(path, size, "%s/%s", self, name) < (int)size && access(path, X_OK) == 0)
                return;
        }
    }
    snprintf(path, size, "%s/%s", MUSTER_BINDIR, name);
}

void step_add_muster(struct arguments *program, ...)
{
    char path[4096];
    va_list words;

    step_program_path("muster", path, sizeof path);
    arguments_add(program, "%s", path);
    va_start(words, program);
    for (const char *word = va_arg(words, const char *); word; word = va_arg(words, const char *))
        arguments_add(program, "%s", word);
    va_end(words);
}
