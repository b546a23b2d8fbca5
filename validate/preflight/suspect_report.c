/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/memory_stream.h"
#include "lib/constants/preflight_constants.h"
#include "validate/preflight/preflight.h"
#include "validate/slurm/step/step.h"
#include "validate/suspects/suspect_reports.h"

/* Returns which node of the job keeps the suspect report: the node itself, else one that
 * answers. */
static const struct member *find_holder(const struct preflight *preflight,
                                        const struct member *member)
{
    if (!member->is_silent)
        return member;
    for (size_t i = 0; i < preflight->names.count; i++)
        if (!preflight->members[i].is_silent && preflight->members[i].verdict != VERDICT_FAIL)
            return &preflight->members[i];
    return NULL;
}

/* Returns the suspect reports as lines for `muster suspects --leave`, malloc'd. holders: gets the
 * nodes that keep them. */
static char *lines_make(const struct preflight *preflight, struct hostlist *holders)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = memory_stream(&text, &size);

    for (size_t i = 0; stream && i < preflight->names.count; i++) {
        const struct member *member = &preflight->members[i], *holder;

        if (member->verdict != VERDICT_FAIL || !(holder = find_holder(preflight, member)))
            continue;
        if (!hostlist_contains(holders, holder->name))
            hostlist_append(holders, holder->name);
        suspect_report_print(stream, holder->name, member->name, preflight->options.job_id,
                             member->test, member->part, member->message);
    }
    if (stream)
        fclose(stream);
    return text;
}

void preflight_report_suspects(struct preflight *preflight)
{
    struct hostlist holders = {0};
    char *lines = lines_make(preflight, &holders), text[400];
    struct arguments program = {0};
    struct process_result result = {0};
    struct error err = {""};
    long *groups = NULL;
    int rv;

    if (!lines || holders.count == 0 || preflight_stop)
        goto done;
    step_add_muster(&program, "suspects", "--leave", NULL);
    groups = preflight_groups(preflight, &holders);
    rv = step_run(
        &(struct step){.job_id = preflight->options.job_id,
                       .nodes = &holders,
                       .groups = groups,
                       .tasks_per_node = 1,
                       .name = preflight->step_name,
                       .mpi = "none",
                       .has_no_gres = true,
                       .program = program.argv},
        &(struct process){.environment = (const char *const[]){"MUSTER_IN_PREFLIGHT=1", NULL},
                          .input = lines,
                          .deadline_s = PREFLIGHT_REPORT_S,
                          .grace_s = PREFLIGHT_REPORT_GRACE_S,
                          .stop = &preflight_stop},
        &result, &err);
    if (rv != 0 || result.end != PROCESS_EXITED || result.status != 0) {
        snprintf(text, sizeof text, "cannot leave a suspect report for the administrator: %s",
                 rv != 0                   ? err.text
                 : *result.error_line.text ? result.error_line.text
                                           : "no answer within the time limit");
        hostlist_append(&preflight->notes, text);
    }
    arguments_clear(&program);
done:
    free(groups);
    free(lines);
    hostlist_clear(&holders);
}
