/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/history/history.h"

#include <string.h>
#include <unistd.h>

#include "validate/command/command.h"
#include "validate/health/job_lines.h"
#include "validate/report/table.h"

struct listing {
    bool as_json;
    const char *node; /* this node */
    uint32_t job;
    bool has_own; /* the node's own log has the job: it has all that was reported to runs */
    size_t count;
    struct table table;
};

static void add_row(const struct record *record, void *context)
{
    struct listing *listing = context;

    listing->count++;
    if (listing->as_json) {
        record_write(stdout, record);
        return;
    }
    table_cells(&listing->table, "%s\t%s\t%s\t%s\t%s", record->node,
                history_time(record->time).text, record->part && *record->part ? record->part : "-",
                record->metric, record->message);
}

static void add_line(const struct job_line *line, void *context)
{
    struct listing *listing = context;
    struct record record;
    char message[JOB_LINE_MESSAGE];

    if (line->job != listing->job)
        return;
    listing->has_own = true;
    record = RECORD(.suite = "check", .test = "host.jobs", .node = listing->node);
    job_line_record(line, message, &record);
    add_row(&record, context);
}

static void add_record(const struct record *record, void *context)
{
    struct listing *listing = context;

    if (!listing->has_own || strcmp(record->node, listing->node) != 0)
        add_row(record, context);
}

int history_print_job(const struct conf *conf, const char *node, uint32_t job, bool as_json)
{
    struct listing listing = {.as_json = as_json, .node = node, .job = job};
    struct error err = {""};
    struct job_log log;
    int status = COMMAND_PASS;

    table_heading(&listing.table, "NODE\tTIME\tPART\tCOUNTER\tWHAT");
    if (geteuid() == 0 && job_log_open(&log, conf->certificate_path) == 0 &&
        job_log_read(log.path, add_line, &listing, &err) < 0)
        status = COMMAND_UNKNOWN;
    if (history_job(conf->history_path, job, add_record, &listing, &err) < 0)
        status = COMMAND_UNKNOWN;
    table_end(&listing.table, stdout, "");
    if (status != COMMAND_PASS)
        fprintf(stderr, "muster history: %s\n", err.text);
    else if (listing.count == 0)
        fprintf(stderr, "muster history: no records of job %u in %s%s\n", (unsigned)job,
                conf->history_path,
                geteuid() == 0 ? " and on this node" : "; root also reads the node's own log");
    return status;
}
