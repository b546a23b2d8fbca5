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
#include "validate/slurm/step/node_lines.h"
#include "validate/slurm/step/step.h"

struct answer {
    bool has_started;
    char text[200]; /* the last line of standard error */
};

struct probe {
    struct certify *certify;
    struct node_lines lines;
    struct answer *answers; /* [task] */
    const char *program, *container;
};

static void take_line(size_t task, const char *node, const char *line, void *context)
{
    const struct probe *probe = context;

    (void)node, (void)line;
    probe->answers[task].has_started = true;
}

static void on_error_line(size_t task, const char *node, const char *line, void *context)
{
    struct answer *answer = &((const struct probe *)context)->answers[task];

    (void)node;
    if (*line)
        text_put(answer->text, sizeof answer->text, "%s", line);
}

static void tick(void *context)
{
    const struct node_lines *lines = context;
    const struct probe *probe = lines->context;

    certify_give_back_poll(probe->certify);
}

/* Runs the probe on the nodes. Returns whether its step ended by itself. */
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
    if (node_lines_begin(&certify->cluster, names, take_line, probe, &probe->lines) == 0 &&
        (probe->answers = calloc(names->count + 1, sizeof *probe->answers))) {
        probe->lines.on_error_line = on_error_line;
        is_run = certify->operations->step_run(
                     &(struct step){.job_id = certify->job_id,
                                    /* only this step is canceled if it is late */
                                    .name = "muster-probe",
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
                                       .on_line = node_lines_read,
                                       .on_tick = tick,
                                       .context = &probe->lines,
                                       .stop = &certify_stop},
                     &result, &err) == 0 &&
                 result.end == PROCESS_EXITED;
    }
    arguments_clear(&program);
    return is_run;
}

static void probe_clear(struct probe *probe)
{
    node_lines_end(&probe->lines);
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
        struct node_run *node_run = certify_node_run(certify, probe.lines.nodes.names[i]);

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

void certify_container_probe(struct certify *certify, const char *container,
                             const struct hostlist *names)
{
    char path[4096];
    const char *reason = "";
    struct probe probe = {.certify = certify, .program = path, .container = container};
    struct hostlist without = {0};

    step_program_path("muster-gpu", path, sizeof path);
    probe_run(names, &probe);
    for (size_t i = 0; i < names->count && !certify_stop; i++) {
        const char *node = probe.answers ? probe.lines.nodes.names[i] : names->names[i];
        struct node_run *node_run = certify_node_run(certify, node);

        if (!node_run || (probe.answers && probe.answers[i].has_started))
            continue;
        certify_verdict(certify, node_run, STAGE_GPU, VERDICT_SKIP, "gpu", "", "no container");
        hostlist_append(&without, node);
        if (!*reason && probe.answers)
            reason = probe.answers[i].text;
    }
    if (without.count > 0)
        certify_note(certify,
                     "gpu: %s: muster-gpu does not start in the container of GpuContainer: %s",
                     hostlist_text(&without).text,
                     *reason                        ? reason
                     : *probe.lines.error_line.text ? probe.lines.error_line.text
                                                    : "it printed nothing");
    hostlist_clear(&without);
    probe_clear(&probe);
}
