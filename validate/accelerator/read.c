/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/accelerator/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bounded_child.h"
#include "lib/base/safe_directory.h"

/* The child's name in /proc, by which a later run finds one that could not be killed. */
#define CHILD_NAME "muster-gpu"

static const struct accelerator_reader *const readers[GPU_VENDORS] = {
    [GPU_NVIDIA] = &accelerator_nvml,
};

const char *accelerator_library(enum gpu_vendor vendor)
{
    const struct accelerator_reader *reader =
        (unsigned)vendor < GPU_VENDORS ? readers[vendor] : NULL;

    return reader ? reader->library : NULL;
}

/* What parent and child share. The strings are the program's own: one address in both. */
struct shared {
    struct accelerator_report report;
    const char *function;
    int device;
};

/* The child's work. */
static void read_library(void *context)
{
    struct shared *shared = context;
    const struct accelerator_reader *reader = readers[shared->report.vendor];
    struct reading reading = {&shared->report, NULL, &shared->function, &shared->device};
    const char *reason;

    shared->function = "dlopen";
    reading.library = dlopen(shared->report.library, RTLD_NOW | RTLD_LOCAL);
    if (!reading.library) {
        reason = dlerror();
        reading_end(&reading, OUTCOME_NO_LIBRARY, "%s", reason ? reason : "dlopen failed");
        return;
    }
    if (reader->read(&reading) == 0)
        shared->report.outcome = OUTCOME_READ;
}

static void report_end(struct shared *shared, const char *what)
{
    char of[32] = "";

    if (shared->device >= 0)
        snprintf(of, sizeof of, " of device %d", shared->device);
    snprintf(shared->report.reason, sizeof shared->report.reason, "%s in %s%s", what,
             shared->function ? shared->function : "its start", of);
}

static void take_end(const struct bounded_end *end, double deadline_s, struct shared *shared)
{
    char what[96];

    if (end->outcome == BOUNDED_LATE) {
        shared->report.outcome = OUTCOME_HUNG;
        snprintf(what, sizeof what, "no answer within %g s%s", deadline_s,
                 end->is_stuck ? ", and the process cannot be killed:" : "");
        report_end(shared, what);
    } else if (end->outcome == BOUNDED_SIGNALED) {
        shared->report.outcome = OUTCOME_CRASHED;
        snprintf(what, sizeof what, "the library died of signal %d (%s)", end->signal,
                 strsignal(end->signal));
        report_end(shared, what);
    } else if (end->outcome == BOUNDED_EXITED) {
        shared->report.outcome = OUTCOME_CRASHED;
        report_end(shared, "the library ended its process");
    }
}

struct accelerator_report *accelerator_read(enum gpu_vendor vendor, const char *path,
                                            double deadline_s, struct error *err)
{
    const char *library = accelerator_library(vendor);
    struct accelerator_report *report;
    struct bounded_end end;
    struct shared *shared;
    char file[sizeof report->library];
    pid_t stuck;

    if (!library) {
        error_set(err, "no library of %s is known", gpu_vendor_name(vendor));
        return NULL;
    }
    if (safe_file_find(path, library, file, sizeof file, err) < 0)
        return NULL;
    shared = calloc(1, sizeof *shared);
    if (!shared) {
        error_set(err, "memory for the accelerators: %m");
        return NULL;
    }
    shared->device = -1;
    shared->report.vendor = vendor;
    shared->report.outcome = OUTCOME_CRASHED; /* until the child says otherwise */
    snprintf(shared->report.library, sizeof shared->report.library, "%s", file);
    stuck = bounded_stuck(CHILD_NAME);
    if (stuck > 0) {
        shared->report.outcome = OUTCOME_HUNG;
        snprintf(shared->report.reason, sizeof shared->report.reason,
                 "process %d of an earlier check hangs in the driver", (int)stuck);
    }
    if (stuck == 0 &&
        bounded_run(CHILD_NAME, deadline_s, read_library, shared, sizeof *shared, &end, err) < 0) {
        free(shared);
        return NULL;
    }
    if (stuck == 0)
        take_end(&end, deadline_s, shared);
    report = malloc(sizeof *report);
    if (report)
        *report = shared->report;
    else
        error_set(err, "memory for the accelerators: %m");
    if (report && report->count > ACCELERATOR_MAX)
        report->count = ACCELERATOR_MAX; /* a library that writes where it should not */
    free(shared);
    return report;
}
