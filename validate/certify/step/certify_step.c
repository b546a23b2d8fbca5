/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/step/certify_step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/base_name.h"
#include "lib/base/clock.h"
#include "lib/constants/certify_constants.h"
#include "validate/certify/settle/actions.h"
#include "validate/certify/step/give_back.h"
#include "validate/certify/step/program_probe.h"
#include "validate/certify/step/reach_nodes.h"
#include "validate/certify/step/record_source.h"
#include "validate/slurm/step/node_lines.h"
#include "validate/slurm/step/step.h"

/* A step: a program on the nodes of the job is started, read, watched and ended. */

/* A step in progress, into which its lines are read. */
struct step_output {
    struct certify *certify;
    const struct certify_step *step;
    struct node_lines lines;       /* of its tasks, where there is one on each node */
    struct record_source *sources; /* one for each of these nodes */
    struct record_source all;      /* the only source if no task reports for itself */
    double watch_at;               /* when nodes are to be reached next */
    size_t watched;                /* nodes before this index were queried in this round */
    double probe_at; /* when the nodes are probed, once, whether the program starts; INFINITY:
                        never */
    volatile sig_atomic_t stop; /* ends the step */
    double read_at;             /* of the last line */
    bool has_lost;              /* a node was lost */
    double until; /* clock_s(): later output, while the step is being ended, names the wrong
                     nodes */
    int status;   /* as an MPI program reported; -1: not yet */
    bool has_memory;
};

static bool is_own(const struct record *record, const char *node)
{
    return !record->node || strcmp(record->node, node) == 0;
}

static void record_add(struct step_output *output, long task, const char *line)
{
    struct certify *certify = output->certify;
    struct records *records = &certify->records;

    switch (record_source_add(certify, task >= 0 ? &output->sources[task] : &output->all,
                              output->step->stage, line)) {
    case 0:
        output->status = records_end(records);
        if (certify->json)
            record_write(certify->json, RECORD_AT(records, records->count - 1));
        break;
    case 1:
        certify->stray_lines += *line != '\0';
        break;
    case 2:
        break;
    default:
        output->has_memory = false;
    }
}

static void read_line(const char *line, bool is_error, void *context)
{
    struct step_output *output = context;
    struct certify *certify = output->certify;
    bool has_labels = output->sources;
    const char *text = line;
    long task = -1;

    if (is_error) {
        /* srun's own lines have no label */
        if (has_labels)
            (void)labels_split(&output->lines.labels, line, &text);
        if (strncmp(text, RECORD_PROGRESS, strlen(RECORD_PROGRESS)) == 0) {
            output->probe_at = INFINITY;
            progress_doing(&certify->progress, "%s", text + strlen(RECORD_PROGRESS));
        } else if (*text) {
            error_line_add(&certify->error_line, text);
        }
        return;
    }
    output->probe_at = INFINITY;
    if (output->stop || clock_s() > output->until)
        return;
    output->read_at = clock_s();
    if (has_labels && (task = labels_parse(&output->lines.labels, line, &text)) < 0) {
        certify->stray_lines += text && *text;
        return;
    }
    record_add(output, task, text);
}

/* Queries the slurmd of the next nodes, CERTIFY_WATCH_MOST at most. Returns how many are silent. */
static size_t watch(struct step_output *output)
{
    const struct hostlist *nodes = output->step->nodes;
    size_t left = nodes->count - output->watched;
    struct hostlist some = {nodes->names + output->watched,
                            left < CERTIFY_WATCH_MOST ? left : CERTIFY_WATCH_MOST};

    output->watched = some.count < left ? output->watched + some.count : 0;
    return certify_reach_again(output->certify, &some, output->step->stage);
}

static void tick(void *context)
{
    struct step_output *output = context;

    progress_tick(&output->certify->progress);
    if (output->step->stage != STAGE_CERTIFICATE) /* decisions are carried out to the end */
        certify_give_back_poll(output->certify);
    if (certify_stop) {
        output->stop = certify_stop;
    } else if (!output->stop && clock_s() > output->probe_at) {
        output->probe_at = INFINITY;
        output->stop = certify_program_probe(output->certify, output->step->stage,
                                             output->step->nodes, true) > 0;
    } else if (!output->stop && clock_s() > output->watch_at) {
        if (watch(output) > 0) {
            output->has_lost = true;
            output->stop = !output->step->survives_loss;
        }
        output->watch_at = clock_s() + CERTIFY_WATCH_EACH_S;
    } else if (!output->stop && output->has_lost &&
               clock_s() - output->read_at > CERTIFY_SILENT_S + output->step->held_s) {
        output->stop = 1;
    }
}

int certify_step(struct certify *certify, const struct certify_step *step, size_t *first,
                 struct error *err)
{
    struct step_output output = {.certify = certify,
                                 .step = step,
                                 .all = {.name = base_name(step->program[0])},
                                 .watch_at = clock_s() + CERTIFY_WATCH_AFTER_S,
                                 .probe_at = INFINITY,
                                 .read_at = clock_s(),
                                 .until = clock_s() + step->deadline_s,
                                 .status = -1,
                                 .has_memory = true};
    struct process_result result;
    int rv;

    record_source_bound(&output.all, step->nodes->count);
    *first = certify->records.count;
    certify->error_line = (struct error_line){0};
    if (step->is_mpi) {
        snprintf(certify->mpi_program, sizeof certify->mpi_program, "%s",
                 step->container ? "" : step->program[0]);
        output.probe_at = clock_s() + certify_deadline_s(CERTIFY_MUTE_S, step->nodes->count);
    }
    if (!step->is_mpi && step->tasks_per_node == 1 &&
        (node_lines_begin(&certify->cluster, step->nodes, NULL, NULL, &output.lines) != 0 ||
         !(output.sources = record_sources_make(&output.lines.nodes, is_own)))) {
        node_lines_end(&output.lines);
        return error_set(err, "out of memory for a step on %zu nodes", step->nodes->count);
    }
    rv = certify->operations->step_run(
        &(struct step){.job_id = certify->job_id,
                       .nodes = step->nodes,
                       .tasks_per_node = step->tasks_per_node,
                       .gpus = step->gpus,
                       .mpi = step->is_mpi ? certify->options.mpi : "none",
                       .keeps_order = step->keeps_order,
                       .has_labels = output.sources,
                       .prints_task_0_only = step->is_mpi,
                       .options = step_container_options(step->container),
                       .program = step->program},
        &(struct process){
            .user = certify->is_root && certify->job == JOB_BATTERY ? &certify->battery : NULL,
            .input = step->input,
            .environment = step->environment,
            .deadline_s = step->deadline_s,
            .grace_s = CERTIFY_GRACE_S,
            .on_line = read_line,
            .on_tick = tick,
            .context = &output,
            .stop = &output.stop,
            .reported_status = step->is_mpi ? &output.status : NULL},
        &result, err);
    node_lines_end(&output.lines);
    free(output.sources);
    if (rv != 0)
        return -1;
    if (output.has_lost && !certify_stop) /* finds the others that are gone */
        certify_reach_again(certify, step->nodes, step->stage);
    certify_drain_silent(certify);
    if (!output.has_memory)
        return error_set(err, "out of memory for the records of %s", step->program[0]);
    if (result.end == PROCESS_TIMED_OUT) {
        error_set(err, "did not end within %.0f s", step->deadline_s);
        return 1;
    }
    if (result.end == PROCESS_STOPPED) {
        error_set(err, certify_stop ? "stopped"
                                    : "a node stopped answering, or cannot start the program");
        return 1;
    }
    if (result.end == PROCESS_SIGNALED ||
        (result.status != 0 && result.status != 1 && result.status != 3)) {
        error_set(err, "ended with status %d: %s", result.status,
                  error_line_text(&certify->error_line));
        return 1;
    }
    if (step->is_mpi && !records_explain(&certify->records, *first, result.status)) {
        bool is_mute = certify->records.count == *first;

        error_set(err, "rank 0, which reports for all ranks, ended early (status %d): %s%s",
                  result.status, error_line_text(&certify->error_line),
                  is_mute
                      ? "; check that srun's --mpi, or MpiDefault of slurm.conf, matches its MPI"
                      : "");
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
    whole.survives_loss = true;
    whole.program = program->argv;
    whole.environment = environment.entries;
    rv = certify_step(certify, &whole, first, err);
    arguments_clear(program);
    return rv;
}
