/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/text.h"
#include "lib/node/job_log.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"
#include "validate/accelerator/accelerator.h"
#include "validate/checks/accelerators.h"
#include "validate/checks/checks.h"
#include "validate/health/job_lines.h"
#include "validate/health/state_file.h"

/* Tests which counter increases of accelerators host.jobs attributes to jobs between two checks.
 * The test keeps the state file in memory. There is no job log. */

static char *state_text, attributed[1024];

uid_t __wrap_geteuid(void)
{
    return 0;
}

char *__wrap_state_file_read(const char *path)
{
    return state_text ? strdup(state_text) : NULL;
}

int __wrap_state_file_write(const char *path, int (*write)(const void *state, FILE *stream),
                            const void *state, struct error *err)
{
    size_t size;
    FILE *stream;

    free(state_text);
    stream = open_memstream(&state_text, &size);
    write(state, stream);
    return fclose(stream);
}

void __wrap_job_lines_attribute(const struct job_lines *lines, const struct conf *conf)
{
    attributed[0] = '\0';
    for (size_t i = 0; i < lines->count; i++)
        text_join(attributed, sizeof attributed, "", "%s %s %lld\n", lines->lines[i].part,
                  lines->lines[i].counter, (long long)lines->lines[i].value);
}

int __wrap_job_log_open(struct job_log *log, const char *certificate_path)
{
    return -1;
}

static void ignore_record(const struct record *record, void *context)
{
}

static struct inventory *inventory;
static struct conf conf;

/* Runs a check in which the first GPU's link CRC errors have this answer and number. Returns the
 * counters that moved. */
static const char *attributed_by_check(enum accelerator_answer answer, long long number)
{
    struct accelerator_report *report = calloc(1, sizeof *report);
    struct accelerators accelerators = {.reports = {[GPU_NVIDIA] = report}};
    struct checks checks = {.root = "",
                            .node = "n1",
                            .conf = &conf,
                            .inventory = inventory,
                            .sink = ignore_record,
                            .accelerators = &accelerators,
                            .keeps_state = true};

    report->vendor = GPU_NVIDIA;
    report->count = 1;
    strcpy(report->accelerators[0].pci, inventory->gpus[0].location.pci);
    report->accelerators[0].values[ACCELERATOR_LINK_CRC_ERRORS] =
        (struct accelerator_value){answer, 0, number};
    for (size_t i = 0; i < check_count; i++)
        if (strcmp(check_table[i].name, "host.jobs") == 0)
            check_run(&check_table[i], &checks);
    free(report);
    return attributed;
}

int main(void)
{
    inventory = tree_inventory("dgx-h100");
    conf_defaults(&conf);
    is_str(attributed_by_check(ANSWER_PRESENT, 100), "", "the first check has no increase");
    is_str(attributed_by_check(ANSWER_PRESENT, 103), "gpu0 link_crc_errors 3\n",
           "three more errors are an increase of 3");
    is_str(attributed_by_check(ANSWER_NOT_ASKED, 0), "",
           "a library that hung before this value has no increase");
    is_str(attributed_by_check(ANSWER_PRESENT, 104), "",
           "... and the next value counts as the new start");
    is_str(attributed_by_check(ANSWER_ERROR, 0), "", "a value that cannot be read has no increase");
    is_str(attributed_by_check(ANSWER_PRESENT, 105), "",
           "... and the next value counts as the new start");
    is_str(attributed_by_check(ANSWER_PRESENT, 107), "gpu0 link_crc_errors 2\n",
           "... from which the increase is counted");
    is_str(attributed_by_check(ANSWER_NOT_SUPPORTED, 0), "",
           "a counter that is not supported has no increase");
    is_str(attributed_by_check(ANSWER_PRESENT, 1), "gpu0 link_crc_errors 1\n",
           "... and counts from zero afterwards");
    conf_clear(&conf);
    inventory_free(inventory);
    free(state_text);
    return tap_done();
}
