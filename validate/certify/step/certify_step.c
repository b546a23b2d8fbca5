/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/step/certify_step.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "validate/certify/settle/actions.h"
#include "validate/certify/state/rails.h"
#include "validate/certify/step/reach_nodes.h"
#include "validate/slurm/labels.h"
#include "validate/slurm/step.h"

/* A program on the nodes of the job: started, heard, watched, ended. */

enum {
    GRACE_S = 3,
    WATCH_AFTER_S = 5,
    WATCH_EACH_S = 10,
    SILENT_S = 12,
    RECORDS_OF_NODE = 8192,
    NODES_PER_S = 50
};

void certify_environment(const struct certify *certify, bool is_fabric,
                         struct certify_environment *environment)
{
    const struct conf *conf = &certify->conf;
    size_t count = 0;

    *environment = (struct certify_environment){0};
    snprintf(environment->run, sizeof environment->run, "MUSTER_RUN=%s", certify->run);
    environment->entries[count++] = environment->run;
    /* Slurm 22.05 mixes two ways of fencing by default and then lets some ranks out of MPI_Init
     * while others are in its first fence still: with three nodes a launch in twenty died of a
     * message that came too early; none in 60 with either way alone. */
    environment->entries[count++] = "SLURM_PMIX_FENCE=ring";
    if (is_fabric) {
        char *text = environment->management;

        if (certify_rails_setting(certify, text, sizeof environment->management) == 0)
            environment->entries[count++] = text;
        return;
    }
    /* A bad rail must not stop the control traffic of the tests that look for it. */
    environment->entries[count++] = "MUSTER_MPI=control";
    environment->entries[count++] = "OMPI_MCA_pml=ob1";
    environment->entries[count++] = "OMPI_MCA_btl=^openib,uct,ofi,usnic";
    if (*conf->management_interface) {
        snprintf(environment->management, sizeof environment->management,
                 "OMPI_MCA_btl_tcp_if_include=%s", conf->management_interface);
        snprintf(environment->oob, sizeof environment->oob, "OMPI_MCA_oob_tcp_if_include=%s",
                 conf->management_interface);
        environment->entries[count++] = environment->management;
        environment->entries[count++] = environment->oob;
    }
}

double certify_deadline_s(double seconds, size_t nodes)
{
    return seconds + (double)nodes / NODES_PER_S;
}

/* What a step's lines are read into. */
struct hearing {
    struct certify *certify;
    const struct certify_step *step;
    struct hostlist nodes; /* of its tasks, where there is one on each */
    struct labels labels;
    size_t *records_of;         /* each of the nodes */
    double watch_at;            /* when the nodes are to be asked next */
    volatile sig_atomic_t stop; /* ends the step */
    double heard_at;            /* the last line */
    bool has_lost;              /* a node, and the step goes on without it */
    double until; /* clock_s(): what is said later, while we end it, accuses the wrong ones */
    int status;   /* as an MPI program told; -1: not yet */
    bool has_memory;
};

/* What a node says of another one, or beyond any measure, is not taken. */
static bool is_accepted(struct hearing *hearing, long task, const struct record *record)
{
    struct certify *certify = hearing->certify;
    const char *node = task >= 0 ? hearing->nodes.names[task] : NULL;

    if (!node)
        return true;
    if ((!record->node || strcmp(record->node, node) == 0) &&
        hearing->records_of[task]++ < RECORDS_OF_NODE)
        return true;
    if (certify->refused_records++ == 0)
        snprintf(certify->refused_node, sizeof certify->refused_node, "%s", node);
    return false;
}

static void record_hear(struct hearing *hearing, long task, const char *line)
{
    struct certify *certify = hearing->certify;
    struct records *records = &certify->records;

    switch (records_parse(records, line)) {
    case 0:
        hearing->status = records_end(records);
        if (!is_accepted(hearing, task, &records->items[records->count - 1]))
            records->count--;
        else if (certify->json)
            record_write(certify->json, &records->items[records->count - 1]);
        break;
    case 1:
        certify->stray_lines += *line != '\0';
        break;
    default:
        hearing->has_memory = false;
    }
}

static void hear(const char *line, bool is_error, void *context)
{
    struct hearing *hearing = context;
    struct certify *certify = hearing->certify;
    bool has_labels = hearing->nodes.count > 0;
    const char *text = line;
    long task = -1;

    if (is_error) {
        /* srun's own lines have no label */
        if (has_labels)
            text = labels_skip(&hearing->labels, line);
        if (strncmp(text, RECORD_PROGRESS, strlen(RECORD_PROGRESS)) == 0)
            progress_doing(&certify->progress, "%s", text + strlen(RECORD_PROGRESS));
        else if (*text)
            complaint_add(&certify->complaint, text);
        return;
    }
    if (hearing->stop || clock_s() > hearing->until)
        return;
    hearing->heard_at = clock_s();
    if (has_labels && (task = labels_take(&hearing->labels, line, &text)) < 0) {
        certify->stray_lines += text && *text;
        return;
    }
    record_hear(hearing, task, text);
}

static void tick(void *context)
{
    struct hearing *hearing = context;

    progress_tick(&hearing->certify->progress);
    if (certify_stop) {
        hearing->stop = certify_stop;
    } else if (!hearing->stop && clock_s() > hearing->watch_at) {
        if (certify_reach_again(hearing->certify, hearing->step->nodes, hearing->step->stage) > 0) {
            hearing->has_lost = hearing->step->survives_loss;
            hearing->stop = !hearing->has_lost;
        }
        hearing->watch_at = clock_s() + WATCH_EACH_S;
    } else if (!hearing->stop && hearing->has_lost && clock_s() - hearing->heard_at > SILENT_S) {
        hearing->stop = 1;
    }
}

static int compare_places(const void *a, const void *b)
{
    const struct cluster_node *const *one = a, *const *other = b;

    return *one < *other ? -1 : *one > *other;
}

int certify_task_nodes(const struct certify *certify, const struct hostlist *nodes,
                       struct hostlist *tasks)
{
    const struct cluster_node **places = calloc(nodes->count + 1, sizeof *places);
    int rv = places ? 0 : -1;

    for (size_t i = 0; rv == 0 && i < nodes->count; i++)
        if (!(places[i] = cluster_node(&certify->cluster, nodes->names[i])))
            rv = -1;
    if (rv == 0)
        qsort(places, nodes->count, sizeof *places, compare_places);
    for (size_t i = 0; rv == 0 && i < nodes->count; i++)
        rv = hostlist_append(tasks, places[i]->name);
    free(places);
    return rv;
}

static int labels_begin(struct hearing *hearing)
{
    const struct hostlist *nodes = hearing->step->nodes;
    int rv = certify_task_nodes(hearing->certify, nodes, &hearing->nodes);

    hearing->records_of = calloc(nodes->count + 1, sizeof *hearing->records_of);
    return rv == 0 && hearing->records_of ? labels_make(&hearing->nodes, &hearing->labels) : -1;
}

static void labels_end(struct hearing *hearing)
{
    labels_clear(&hearing->labels);
    free(hearing->records_of);
    hostlist_clear(&hearing->nodes);
}

int certify_step(struct certify *certify, const struct certify_step *step, size_t *first,
                 struct error *err)
{
    struct hearing hearing = {.certify = certify,
                              .step = step,
                              .watch_at = clock_s() + WATCH_AFTER_S,
                              .heard_at = clock_s(),
                              .until = clock_s() + step->deadline_s,
                              .status = -1,
                              .has_memory = true};
    struct process_result result;
    int rv;

    *first = certify->records.count;
    certify->complaint = (struct complaint){0};
    if (!step->is_mpi && step->tasks_per_node == 1 && labels_begin(&hearing) != 0) {
        labels_end(&hearing);
        return error_set(err, "no memory for a step on %zu nodes", step->nodes->count);
    }
    rv = certify->operations->step_run(
        &(struct step){.job_id = certify->job_id,
                       .nodes = step->nodes,
                       .tasks_per_node = step->tasks_per_node,
                       .mpi = step->is_mpi ? certify->options.mpi : "none",
                       .has_labels = hearing.nodes.count > 0,
                       .is_of_first = step->is_mpi,
                       .program = step->program},
        &(struct process){
            .user = certify->is_root && certify->job == JOB_BATTERY ? &certify->battery : NULL,
            .input = step->input,
            .environment = step->environment,
            .deadline_s = step->deadline_s,
            .grace_s = GRACE_S,
            .on_line = hear,
            .on_tick = tick,
            .context = &hearing,
            .stop = &hearing.stop,
            .told_status = step->is_mpi ? &hearing.status : NULL},
        &result, err);
    labels_end(&hearing);
    if (rv != 0)
        return -1;
    certify_drop_silent(certify);
    if (!hearing.has_memory)
        return error_set(err, "no memory for the records of %s", step->program[0]);
    if (result.end == PROCESS_TIMED_OUT) {
        error_set(err, "did not end within %.0f s", step->deadline_s);
        return 1;
    }
    if (result.end == PROCESS_STOPPED) {
        error_set(err, certify_stop ? "stopped by a signal" : "a node stopped answering");
        return 1;
    }
    if (result.end == PROCESS_SIGNALED ||
        (result.status != 0 && result.status != 1 && result.status != 3)) {
        error_set(err, "ended with status %d: %s", result.status,
                  *certify->complaint.text ? certify->complaint.text : "no word why");
        return 1;
    }
    if (step->is_mpi && !records_explain(&certify->records, *first, result.status)) {
        bool is_mute = certify->records.count == *first;

        error_set(err, "rank 0, which tells for all, ended too early (status %d): %s%s",
                  result.status, *certify->complaint.text ? certify->complaint.text : "no word why",
                  is_mute ? "; does srun's --mpi, or MpiDefault of slurm.conf, fit its MPI?" : "");
        return 1;
    }
    return 0;
}

int certify_muster(struct certify *certify, const struct certify_step *step,
                   struct arguments *program, size_t *first, struct error *err)
{
    struct certify_environment environment;
    struct certify_step whole = *step;
    int rv;

    certify_environment(certify, false, &environment);
    whole.tasks_per_node = 1;
    whole.program = program->argv;
    whole.environment = environment.entries;
    rv = certify_step(certify, &whole, first, err);
    arguments_clear(program);
    return rv;
}
