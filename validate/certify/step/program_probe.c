/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/step/program_probe.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/base_name.h"
#include "lib/base/text.h"
#include "lib/constants/certify_constants.h"
#include "validate/certify/report/run_records.h"
#include "validate/certify/step/give_back.h"
#include "validate/certify/step/step_setup.h"
#include "validate/slurm/labels.h"
#include "validate/slurm/step.h"

struct answer {
    bool has_started;
    char text[200]; /* the last line of standard error */
};

struct probe {
    struct certify *certify;
    struct hostlist tasks;
    struct labels lines, errors;
    struct answer *answers; /* [task] */
    const char *program, *container;
    char complaint[200]; /* the last line of srun's own */
};

static void read_line(const char *line, bool is_error, void *context)
{
    struct probe *probe = context;
    const char *text;
    long task = labels_take(is_error ? &probe->errors : &probe->lines, line, &text);

    if (task < 0 && is_error && *line)
        text_put(probe->complaint, sizeof probe->complaint, "%s", line);
    if (task < 0)
        return;
    if (!is_error)
        probe->answers[task].has_started = true;
    else if (*text)
        text_put(probe->answers[task].text, sizeof probe->answers[task].text, "%s", text);
}

static void tick(void *context)
{
    const struct probe *probe = context;

    certify_give_back_look(probe->certify);
}

/* Whether each task ended by itself. */
static bool probe_run(const struct hostlist *names, struct probe *probe)
{
    const struct certify *certify = probe->certify;
    struct certify_environment environment;
    struct arguments program = {0};
    struct process_result result;
    struct error err;
    bool is_run = false;

    certify_environment(certify, false, &environment);
    step_container_begin(probe->container, &program);
    arguments_add(&program, "/usr/bin/env");
    arguments_add(&program, "SLURM_PROCID=0"); /* rank 0 prints */
    arguments_add(&program, "%s", probe->program);
    arguments_add(&program, "--version");
    if (cluster_task_nodes(&certify->cluster, names, &probe->tasks) == 0 &&
        labels_make(&probe->tasks, &probe->lines) == 0 &&
        labels_make(&probe->tasks, &probe->errors) == 0 &&
        (probe->answers = calloc(names->count + 1, sizeof *probe->answers)))
        is_run = certify->operations->step_run(
                     &(struct step){.job_id = certify->job_id,
                                    .name = "muster-probe", /* it alone is canceled if it is late */
                                    .nodes = names,
                                    .tasks_per_node = 1,
                                    .mpi = "none",
                                    .has_labels = true,
                                    .options = step_container_options(probe->container),
                                    .program = program.argv},
                     &(struct process){.user = certify->is_root ? &certify->battery : NULL,
                                       .environment = environment.entries,
                                       .deadline_s = certify_deadline_s(
                                           probe->container ? CERTIFY_CONTAINER_S : CERTIFY_PROBE_S,
                                           names->count),
                                       .grace_s = CERTIFY_GRACE_S,
                                       .on_line = read_line,
                                       .on_tick = tick,
                                       .context = probe,
                                       .stop = &certify_stop},
                     &result, &err) == 0 &&
                 result.end == PROCESS_EXITED;
    arguments_clear(&program);
    return is_run;
}

static void probe_clear(struct probe *probe)
{
    labels_clear(&probe->lines);
    labels_clear(&probe->errors);
    hostlist_clear(&probe->tasks);
    free(probe->answers);
}

static bool is_bad(const struct answer *answer, bool is_running)
{
    return !answer->has_started && (!is_running || *answer->text);
}

size_t certify_program_probe(struct certify *certify, enum stage stage,
                             const struct hostlist *names, bool is_running)
{
    struct probe probe = {.certify = certify, .program = certify->mpi_program};
    size_t bad = 0;
    char text[300];

    if (!*certify->mpi_program || certify->job != JOB_BATTERY || names->count < 2)
        return 0;
    if (probe_run(names, &probe))
        for (size_t i = 0; i < names->count; i++)
            bad += is_bad(&probe.answers[i], is_running);
    if (2 * bad >= names->count)
        bad = 0;
    for (size_t i = 0; bad > 0 && i < names->count; i++) {
        struct node_run *node_run = certify_node_run(certify, probe.tasks.names[i]);

        if (!is_bad(&probe.answers[i], is_running) || !node_run)
            continue;
        text_put(text, sizeof text, "%s does not start here%s%s", base_name(certify->mpi_program),
                 *probe.answers[i].text ? ": " : "", probe.answers[i].text);
        certify_fault(certify, node_run, stage, VERDICT_UNKNOWN, FAULT_LAUNCH_FAILED,
                      "workers.enumerate", "program", text);
    }
    probe_clear(&probe);
    return bad;
}

void certify_container_probe(struct certify *certify, enum stage stage, const char *container,
                             const struct hostlist *names, const char *name)
{
    char path[4096];
    const char *reason = "";
    struct probe probe = {.certify = certify, .program = path, .container = container};
    struct hostlist without = {0};
    char *folded;

    step_program_path(name, path, sizeof path);
    probe_run(names, &probe);
    for (size_t i = 0; i < names->count && !certify_stop; i++) {
        const char *node = probe.answers ? probe.tasks.names[i] : names->names[i];
        struct node_run *node_run = certify_node_run(certify, node);

        if (!node_run || (probe.answers && probe.answers[i].has_started))
            continue;
        certify_verdict(certify, node_run, stage, VERDICT_SKIP, stage_name(stage), "",
                        "no container");
        hostlist_append(&without, node);
        if (!*reason && probe.answers)
            reason = probe.answers[i].text;
    }
    folded = hostlist_fold(&without);
    if (without.count > 0)
        certify_note(certify, "%s: %s: %s does not start in the container of GpuContainer: %s",
                     stage_name(stage), folded ? folded : "some nodes", name,
                     *reason            ? reason
                     : *probe.complaint ? probe.complaint
                                        : "it said nothing");
    free(folded);
    hostlist_clear(&without);
    probe_clear(&probe);
}
