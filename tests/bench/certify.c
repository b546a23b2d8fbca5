/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/certify.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "validate/command/command.h"
#include "validate/history/history.h"
#include "validate/slurm/step/job_match.h"

/* of what stands in for the cluster */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* certify NODES FACTS LINKS DIRECTORY: runs everything that muster certify does on the head, for a
 * synthetic cluster. The table of operations is here; steps print at once what the two files have
 * for nodes n1 to nNODES. The history is in DIRECTORY. tests/bench/head starts it and measures its
 * processor time and memory. */

static size_t node_count;
static const char *facts_path, *links_path;
static struct {
    bool *is_drained;
    uint32_t job;
    char job_name[96], reservation[96];
} world;

/* ---------------------------------------------------------------- the machine */

int __wrap_user_find(const char *name, struct user *user, struct error *err);
int __wrap_user_find(const char *name, struct user *user, struct error *err)
{
    *user = (struct user){.uid = 977, .gid = 977};
    snprintf(user->name, sizeof user->name, "%s", name);
    return 0;
}

int command_misuse(const char *command, const char *format, ...)
{
    return COMMAND_USAGE;
}

int job_match_query(struct job_match *asked, size_t count, struct error *err)
{
    return 0;
}

bool job_match_is_confirmed(const struct job_match *asked)
{
    return false;
}

/* ---------------------------------------------------------------- the controller */

static int open_slurm(struct error *err)
{
    return 0;
}

static int name_of(char *name, size_t size, struct error *err)
{
    snprintf(name, size, "made-up");
    return 0;
}

static int load_nodes(struct cluster *cluster, struct error *err)
{
    *cluster = (struct cluster){.name = strdup("made-up"),
                                .nodes = calloc(node_count, sizeof *cluster->nodes),
                                .node_count = node_count};
    for (size_t i = 0; i < node_count; i++) {
        char name[32];

        snprintf(name, sizeof name, "n%zu", i + 1);
        cluster->nodes[i] = (struct cluster_node){.name = strdup(name),
                                                  .address = strdup(name),
                                                  .gres = strdup(""),
                                                  .features = strdup(""),
                                                  .reason = strdup(""),
                                                  .comment = strdup(""),
                                                  .extra = strdup(""),
                                                  .cpus = 1,
                                                  .leaf = -1,
                                                  .is_idle = world.job == 0,
                                                  .is_allocated = world.job != 0,
                                                  .is_drained = world.is_drained[i],
                                                  .is_responding = true,
                                                  .boot_time = 1000,
                                                  .is_reserved = *world.reservation != '\0'};
        snprintf(cluster->nodes[i].state, sizeof cluster->nodes[i].state, "idle");
    }
    return cluster_index(cluster, err);
}

static int load(struct cluster *cluster, struct error *err)
{
    if (load_nodes(cluster, err) != 0)
        return -1;
    cluster->partition_count = 1;
    cluster->partitions = calloc(1, sizeof *cluster->partitions);
    cluster->partitions[0] =
        (struct cluster_partition){.name = strdup("p"), .is_default = true, .is_up = true};
    for (size_t i = 0; i < node_count; i++)
        hostlist_append(&cluster->partitions[0].nodes, cluster->nodes[i].name);
    return 0;
}

static int reservation_find(const char *name, struct hostlist *found, time_t *since,
                            struct error *err)
{
    *found = (struct hostlist){0};
    if (strcmp(name, world.reservation) != 0)
        return 0;
    for (size_t i = 1; i <= node_count; i++) {
        char node[32];

        snprintf(node, sizeof node, "n%zu", i);
        hostlist_append(found, node);
    }
    return 1;
}

static int jobs_find(const char *prefix, struct cluster_job **jobs, struct error *err)
{
    *jobs = calloc(1, sizeof **jobs);
    (*jobs)->id = world.job;
    snprintf((*jobs)->name, sizeof(*jobs)->name, "%.63s", world.job_name);
    return world.job != 0 && strncmp(world.job_name, prefix, strlen(prefix)) == 0;
}

static enum cluster_job_state job_state(uint32_t id, const char *name)
{
    return id == world.job ? CLUSTER_JOB_ACTIVE : CLUSTER_JOB_OVER;
}

static int job_cancel(uint32_t id, struct error *err)
{
    if (id == world.job)
        world.job = 0;
    return 0;
}

static int change(const char *list, const char *text, struct error *err)
{
    return 0;
}

static int drain(const char *list, const char *reason, struct error *err)
{
    struct hostlist names = {0};

    fprintf(stderr, "drained: %s: %s\n", list, reason);
    hostlist_expand(list, &names, err);
    for (size_t i = 0; i < names.count; i++)
        world.is_drained[strtoul(names.names[i] + 1, NULL, 10) - 1] = true;
    hostlist_clear(&names);
    return 0;
}

static int reserve(const char *name, const char *list, const char *user, int minutes,
                   struct error *err)
{
    snprintf(world.reservation, sizeof world.reservation, "%s", name);
    return 0;
}

static int unreserve(const char *name, struct error *err)
{
    world.reservation[0] = '\0';
    return 0;
}

static int wait_for(const struct hostlist *names, const struct hostlist *changed, bool is_there,
                    struct error *err)
{
    return 0;
}

static int runs_find(uid_t uid, struct cluster_run **runs, struct error *err)
{
    *runs = NULL;
    return 0;
}

static int pending_find(uid_t uid, struct pending_job **jobs, struct error *err)
{
    *jobs = NULL;
    return 0;
}

static int reach(struct cluster_node *const *list, size_t count, double deadline_s,
                 const volatile sig_atomic_t *stop, struct reach *answers, struct error *err)
{
    for (size_t i = 0; i < count; i++)
        answers[i] = (struct reach){.state = REACH_ANSWERS};
    return 0;
}

static int allocation(const struct allocation_request *request, uint32_t *job_id, struct error *err)
{
    static uint32_t last;

    snprintf(world.job_name, sizeof world.job_name, "%s", request->job_name);
    *job_id = world.job = ++last;
    return 0;
}

static int allocation_query(const struct allocation_request *request, struct error *err)
{
    return 0;
}

/* ---------------------------------------------------------------- what runs on the nodes */

static void __attribute__((format(printf, 2, 3)))
line(const struct process *process, const char *format, ...)
{
    char text[1000];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    process->on_line(text, false, process->context);
}

/* Sets name to the text after key, as "\"node\":\"", in a record. Returns whether there is one. */
static bool name_in(const char *record, const char *key, char name[32])
{
    const char *found = strstr(record, key);

    return found && sscanf(found + strlen(key), "%31[^\"]", name) == 1;
}

/* Prints the lines of the file that contain suite and name no nodes but those of the step. */
static void replay(const char *path, const char *suite, const struct step *step,
                   const struct process *process)
{
    struct name_index wanted;
    char *text = NULL, last[32] = "";
    size_t size = 0, task = SIZE_MAX;
    ssize_t length;
    FILE *file = fopen(path, "r");

    if (!file || hostlist_index(step->nodes, &wanted) != 0)
        exit(2);
    while ((length = getline(&text, &size, file)) > 0) {
        char node[32] = "", peer[32] = "";

        text[length - 1] = '\0';
        if (!strstr(text, suite) ||
            (name_in(text, "\"node\":\"", node) && !name_index_has(&wanted, node)) ||
            (name_in(text, "\"peer\":\"", peer) && !name_index_has(&wanted, peer)))
            continue;
        if (strcmp(node, last) != 0)
            task++;
        snprintf(last, sizeof last, "%s", node);
        if (step->has_labels)
            line(process, "%zu: %s", task, text);
        else
            process->on_line(text, false, process->context);
    }
    free(text);
    fclose(file);
    name_index_clear(&wanted);
}

#define PASS "\"time\":1,\"verdict\":\"pass\""

/* Prints the record that ends a pass, for each pass of the step's --passes. */
static void rounds(const struct step *step, const struct process *process)
{
    static const char option[] = "--passes=";
    const char *passes = "pairs";

    for (char *const *word = step->program; *word; word++)
        if (strncmp(*word, option, strlen(option)) == 0)
            passes = *word + strlen(option);
    for (size_t length; *passes; passes += length + (passes[length] == ',')) {
        length = strcspn(passes, ",");
        line(process,
             "{\"suite\":\"links\",\"test\":\"links\",\"metric\":\"rounds\",\"unit\":\"count\","
             "\"value\":28,\"limit\":28,\"limit_source\":\"expected\",\"part\":\"%.*s\"," PASS "}",
             (int)length, passes);
    }
}

/* Prints a certificate record for each node of the step. Tasks are numbered in Slurm's order of
 * nodes. */
static void certificates(const struct step *step, const struct process *process)
{
    struct name_index wanted;
    size_t task = 0;

    if (hostlist_index(step->nodes, &wanted) != 0)
        exit(2);
    for (size_t i = 1; i <= node_count; i++) {
        char node[32];

        snprintf(node, sizeof node, "n%zu", i);
        if (name_index_has(&wanted, node))
            line(process,
                 "%zu: {\"suite\":\"certificate\",\"test\":\"certificate\"," PASS
                 ",\"node\":\"%s\"}",
                 task++, node);
    }
    name_index_clear(&wanted);
}

static int step(const struct step *step, const struct process *process,
                struct process_result *result, struct error *err)
{
    const char *name = strrchr(step->program[0], '/'), *verb = step->program[1];

    name = name ? name + 1 : step->program[0];
    *result = (struct process_result){.end = PROCESS_EXITED};
    if (strcmp(name, "muster-links") == 0) {
        replay(links_path, "\"suite\":\"links\"", step, process);
        rounds(step, process);
    } else if (strcmp(name, "muster-launch") == 0)
        line(process, "{\"suite\":\"launch\",\"test\":\"mpi.messages\",\"metric\":\"messages\","
                      "\"unit\":\"count\",\"value\":4," PASS "}");
    else if (strcmp(name, "muster-collectives") == 0)
        line(process, "{\"suite\":\"collectives\",\"test\":\"collectives.correct\",\"metric\":"
                      "\"mismatches\",\"unit\":\"count\",\"value\":0," PASS "}");
    else if (strcmp(verb, "check") == 0)
        replay(facts_path, "\"suite\":\"check\"", step, process);
    else if (strcmp(verb, "certificate") == 0)
        certificates(step, process);
    for (size_t task = 0; strcmp(name, "env") == 0 && task < step->nodes->count; task++)
        line(process, "%zu: muster-launch 0.1", task);
    return 0;
}

static int step_on(const struct hostlist *names, const char *partition, int wait_s,
                   char *const *words, const struct process *process, struct process_result *result,
                   struct error *err)
{
    *result = (struct process_result){.end = PROCESS_EXITED};
    return 0;
}

static const struct cluster_operations operations = {
    .open = open_slurm,
    .name = name_of,
    .load = load,
    .load_nodes = load_nodes,
    .reservation = reservation_find,
    .jobs = jobs_find,
    .job_state = job_state,
    .drain = drain,
    .resume = change,
    .set_comment = change,
    .set_extra = change,
    .down = drain,
    .reserve = reserve,
    .unreserve = unreserve,
    .update_waiting = wait_for,
    .job_cancel = job_cancel,
    .runs = runs_find,
    .pending = pending_find,
    .reach_nodes = reach,
    .allocation_get = allocation,
    .allocation_check = allocation_query,
    .step_run = step,
    .step_run_on = step_on,
};

int main(int argc, char **argv)
{
    static struct certify certify = {.operations = &operations,
                                     .undo = {.journal = -1, .keeper_pipe = -1}};
    char *words[] = {argv[0], NULL};
    size_t certified = 0;
    int status;

    if (argc != 5 || (node_count = strtoul(argv[1], NULL, 10)) < 2) {
        fprintf(stderr, "usage: certify NODES FACTS LINKS DIRECTORY\n");
        return 2;
    }
    facts_path = argv[2];
    links_path = argv[3];
    world.is_drained = calloc(node_count, sizeof *world.is_drained);
    conf_defaults(&certify.conf);
    snprintf(certify.conf.history_path, sizeof certify.conf.history_path, "%s/history.db", argv[4]);
    status = certify_run(&certify, 1, words);
    for (size_t i = 0; i < certify.count; i++)
        certified += *certify.node_runs[i].certified_until != '\0';
    certify_clear(&certify);
    free(world.is_drained);
    if (certified + 1 < node_count) {
        fprintf(stderr, "certify: %zu of %zu nodes are certified\n", certified, node_count);
        return 2;
    }
    return status;
}
