/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/certificate/certificate.h"
#include "lib/node/job_log.h"
#include "validate/accelerator/evaluate.h"
#include "validate/checks/accelerators.h"
#include "validate/checks/checks.h"
#include "validate/health/job_lines.h"
#include "validate/health/state_file.h"

/* host.jobs: counters that rose while jobs ran, from the node's log of jobs. None is a fault by
 * itself: rates, the kernel log and the devices' state show faults. The libraries of accelerators
 * are too slow for prolog and epilog, so their counters are compared between health checks. */

#define ACCELERATORS_FILE "/run/muster/accelerators"

enum { REPORTED_LINES = 100 };

/* ---------------------------------------------------------------- accelerators */

/* Each partition of a GPU reports the GPU's counters for itself: the highest value is kept. */
static void keep_maximum(struct part_counters *counters, const char *part, const char *counter,
                         uint64_t value)
{
    for (size_t i = 0; i < counters->count; i++) {
        struct part_counter *item = &counters->items[i];

        if (strcmp(item->part, part) == 0 && strcmp(item->counter, counter) == 0) {
            item->value = value > item->value ? value : item->value;
            return;
        }
    }
    part_counters_add(counters, part, counter, value);
}

static void add_device(struct part_counters *counters, const char *part,
                       const struct accelerator *device)
{
    static const struct {
        enum accelerator_value_id id;
        const char *counter;
    } counted[] = {
        {ACCELERATOR_ECC_VOLATILE_CORRECTED, "ecc_volatile_corrected"},
        {ACCELERATOR_ECC_VOLATILE_UNCORRECTED, "ecc_volatile_uncorrected"},
        {ACCELERATOR_ROWS_CORRECTED, "rows_corrected"},
        {ACCELERATOR_ROWS_UNCORRECTED, "rows_uncorrected"},
        {ACCELERATOR_PCIE_REPLAYS, "pcie_replays"},
        {ACCELERATOR_LINK_CRC_ERRORS, "link_crc_errors"},
        {ACCELERATOR_LINK_RECOVERIES, "link_recoveries"},
        {ACCELERATOR_LINK_RECOVERIES_FAILED, "link_recoveries_failed"},
    };

    keep_maximum(counters, part, "", 0);
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        const struct accelerator_value *value = &device->values[counted[i].id];

        if (value->answer == ANSWER_NOT_ASKED || value->answer == ANSWER_ERROR)
            keep_maximum(counters, part, counted[i].counter, PART_COUNTER_UNREAD);
        if (value->answer == ANSWER_PRESENT && value->number > 0)
            keep_maximum(counters, part, counted[i].counter, (uint64_t)value->number);
    }
}

static void read_accelerators(const struct checks *checks, struct part_counters *counters)
{
    long indexes[ACCELERATOR_MAX];
    char part[PART_NAME];

    part_counters_init(counters, checks->inventory->boot_id, (int64_t)clock_s());
    for (int vendor = GPU_OTHER + 1; checks->accelerators && vendor < GPU_VENDORS; vendor++) {
        const struct accelerator_report *report = checks->accelerators->reports[vendor];

        if (!report)
            continue;
        accelerator_indexes(report, checks->inventory, NULL, indexes);
        for (size_t i = 0; i < report->count; i++) {
            snprintf(part, sizeof part, "gpu%ld", indexes[i] >= 0 ? indexes[i] : (long)i);
            add_device(counters, part, &report->accelerators[i]);
        }
    }
}

static void add_increase(const struct part_counter *increase, void *context)
{
    struct job_line line = {.event = JOB_COUNTED, .value = increase->value};

    strcpy(line.part, increase->part);
    strcpy(line.counter, increase->counter);
    job_lines_add(context, &line);
}

static void attribute_accelerators(const struct checks *checks)
{
    char *text = state_file_read(ACCELERATORS_FILE);
    struct job_lines lines = {.end_s = (int64_t)clock_epoch_s()};
    struct part_counters then, now;

    read_accelerators(checks, &now);
    if (text && part_counters_parse(&then, text) == 0) {
        lines.begin_s = lines.end_s - (now.time_s - then.time_s);
        part_counters_increased(&then, &now, add_increase, &lines);
        part_counters_clear(&then);
    }
    free(text);
    /* if the state cannot be saved, no job is charged: the next check would charge the same errors
     * again */
    if (now.count == 0 || state_file_write(ACCELERATORS_FILE, part_counters_write, &now, NULL) == 0)
        job_lines_attribute(&lines, checks->conf);
    part_counters_clear(&now);
}

/* ---------------------------------------------------------------- reporting */

/* The newest lines since the last certificate, whose run reported the earlier ones. */
struct newest {
    int64_t since_s;
    size_t jobs, events;
    struct job_line lines[REPORTED_LINES];
};

static void add_line(const struct job_line *line, void *context)
{
    struct newest *newest = context;

    if (line->end_s < newest->since_s)
        return;
    if (line->event == JOB_RAN)
        newest->jobs++;
    else
        newest->lines[newest->events++ % REPORTED_LINES] = *line;
}

void check_jobs(const struct checks *checks)
{
    static struct newest newest;
    struct error err = {""};
    struct job_log log;

    if (checks->root[0] || geteuid() != 0) {
        checks_record(checks, "", VERDICT_SKIP, "%s",
                      checks->root[0] ? "a recorded tree has no jobs"
                                      : "only root may read the node's log of jobs");
        return;
    }
    if (checks->keeps_state)
        attribute_accelerators(checks);
    newest = (struct newest){.since_s = certificate_issued(checks->conf->certificate_path, NULL)};
    if (job_log_open(&log, checks->conf->certificate_path) != 0 ||
        job_log_read(log.path, add_line, &newest, &err) < 0) {
        checks_record(checks, "", VERDICT_UNKNOWN, "cannot read the log of jobs: %s", err.text);
        return;
    }
    for (size_t i = newest.events > REPORTED_LINES ? newest.events - REPORTED_LINES : 0;
         checks->lists_jobs && i < newest.events; i++) {
        struct record record = RECORD_INIT;
        char message[JOB_LINE_MESSAGE];

        job_line_record(&newest.lines[i % REPORTED_LINES], message, &record);
        checks_report(checks, record, "%s", message);
    }
    checks_record(checks, "", VERDICT_PASS,
                  "%zu jobs ended%s; %zu error counts and kernel log entries while jobs ran: "
                  "muster history --job",
                  newest.jobs, newest.since_s > 0 ? " since the last certificate" : "",
                  newest.events);
}
