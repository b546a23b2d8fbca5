/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/run/examine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/constants/run_constants.h"
#include "validate/report/recordfile.h"
#include "validate/slurm/step/step.h"

static void pass_line_on(const char *line, bool is_error, void *context)
{
    (void)context;
    if (is_error)
        fprintf(stderr, "%s\n", line);
}

static void ignore_line(const char *text, void *context)
{
    (void)text;
    (void)context;
}

/* Reads the record of each node's whole preflight. Returns 0, or -1 if memory is out. */
static int verdicts_read(const struct records *records, const struct hostlist *nodes,
                         struct hostlist *passed, struct hostlist *failed)
{
    for (size_t i = 0; i < records->count; i++) {
        const struct record *record = RECORD_AT(records, i);

        if (!record->node || !catalog_is_test(record->test, TEST_PREFLIGHT) ||
            !hostlist_contains(nodes, record->node))
            continue;
        if (record->verdict == VERDICT_FAIL ? hostlist_append(failed, record->node) != 0
            : record->verdict <= VERDICT_WARN && record->verdict >= VERDICT_PASS
                ? hostlist_append(passed, record->node) != 0
                : false)
            return -1;
    }
    return 0;
}

/* The preflight's command line; its records go to path. */
static int program_make(const struct examination *examination, const char *path,
                        struct arguments *program)
{
    char *folded = hostlist_fold(examination->nodes);
    size_t keep = examination->keep < examination->nodes->count ? examination->keep
                                                                : examination->nodes->count;

    step_add_muster(program, "preflight", NULL);
    arguments_add(program, "--nodes=%s", folded ? folded : "");
    arguments_add(program, "--keep=%zu", keep);
    arguments_add(program, "--level=%s", examination->level);
    arguments_add(program, "--budget=%.3f", examination->budget_s);
    arguments_add(program, "--json=%s", path);
    if (examination->config_path)
        arguments_add(program, "--config=%s", examination->config_path);
    program->out_of_memory |= !folded;
    free(folded);
    return program->out_of_memory ? -1 : 0;
}

int examine(const struct examination *examination, struct hostlist *passed, struct hostlist *failed,
            struct error *err)
{
    struct arguments program = {0};
    struct process_result result;
    struct records records = {0};
    char path[64];
    int fd = memfd_create("muster-run", MFD_CLOEXEC), rv = -1;

    /* in memory: a TMPDIR of the login node may not be here, and a disk may be full */
    if (fd < 0)
        return error_set(err, "no place for records: %m");
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    if (program_make(examination, path, &program) != 0)
        error_set(err, "no memory");
    else if (process_run(
                 &(struct process){.argv = program.argv,
                                   .deadline_s = examination->budget_s + RUN_PREFLIGHT_GRACE_S,
                                   .grace_s = RUN_PREFLIGHT_GRACE_S,
                                   .on_line = pass_line_on,
                                   .on_tick = examination->on_tick,
                                   .context = examination->context,
                                   .stop = examination->stop},
                 &result, err) == 0 &&
             recordfile_read(path, &records, &(struct recordfile_listener){.report = ignore_line},
                             err) >= 0 &&
             verdicts_read(&records, examination->nodes, passed, failed) == 0)
        rv = passed->count + failed->count > 0
                 ? 0
                 : error_set(err, "the preflight gives no verdict on any node");
    else if (!*err->text)
        error_set(err, "no memory");
    close(fd);
    records_clear(&records);
    arguments_clear(&program);
    return rv;
}
