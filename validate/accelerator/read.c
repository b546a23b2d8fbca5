/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/accelerator/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bounded_child.h"
#include "lib/base/safe_directory.h"

/* The child's name in /proc, by which a later run finds a child that could not be killed. */
#define CHILD_NAME "muster-gpu"

/* The readers, in the order in which the libraries of a vendor are tried. */
static const struct accelerator_reader *const readers[] = {
    &accelerator_nvml,
    &accelerator_amdsmi,
    &accelerator_rsmi,
    &accelerator_hlml,
};

enum { CANDIDATES_MAX = 16 };

/* A library that may exist. */
struct candidate {
    const struct accelerator_reader *reader;
    char file[1100]; /* for dlopen */
    bool is_found;   /* in the path */
};

static const struct accelerator_reader *reader_of(enum gpu_vendor vendor)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (readers[i]->vendor == vendor)
            return readers[i];
    return NULL;
}

const char *accelerator_library(enum gpu_vendor vendor)
{
    const struct accelerator_reader *reader = reader_of(vendor);

    return reader ? reader->libraries[0] : NULL;
}

const struct accelerator_traits *accelerator_traits(enum gpu_vendor vendor)
{
    return &reader_of(vendor)->traits;
}

/* Lists the libraries of the vendor, those in the path first. Returns their number, or -1 with err
 * if one must not be loaded. */
static int find_candidates(enum gpu_vendor vendor, const char *path,
                           struct candidate candidates[CANDIDATES_MAX], struct error *err)
{
    int count = 0;

    for (int wanted = 1; wanted >= 0; wanted--)
        for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
            for (const char *const *name = readers[i]->libraries;
                 *name && readers[i]->vendor == vendor && count < CANDIDATES_MAX; name++) {
                struct candidate *candidate = &candidates[count];
                int is_found =
                    safe_file_find(path, *name, candidate->file, sizeof candidate->file, err);

                if (is_found < 0)
                    return -1;
                candidate->reader = readers[i];
                candidate->is_found = is_found == 1;
                count += is_found == wanted;
            }
    return count;
}

bool accelerator_is_in(enum gpu_vendor vendor, const char *path)
{
    struct candidate *candidates = calloc(CANDIDATES_MAX, sizeof *candidates);
    int count = candidates ? find_candidates(vendor, path, candidates, NULL) : 0;
    bool is_in = count < 0 || (count > 0 && candidates[0].is_found);

    free(candidates);
    return is_in;
}

/* The memory shared by parent and child. Strings are constants of the program, with the same
 * address in both. */
struct shared {
    struct accelerator_report report; /* the first member, so that free(report) frees all */
    struct candidate candidates[CANDIDATES_MAX];
    int candidate_count;
    const char *function;
    int device;
};

/* Reads the devices with the candidate. Returns whether it is final: the devices are read, or the
 * report has the reason why they cannot be. */
static bool read_candidate(struct shared *shared, const struct candidate *candidate)
{
    struct reading reading = {
        .reader = candidate->reader,
        .report = &shared->report,
        .function = &shared->function,
        .device = &shared->device,
    };
    const char *reason;

    snprintf(shared->report.library, sizeof shared->report.library, "%s", candidate->file);
    shared->function = "dlopen";
    reading.library = dlopen(candidate->file, RTLD_NOW | RTLD_LOCAL);
    if (!reading.library) {
        reason = dlerror();
        reading_end(&reading, OUTCOME_NO_LIBRARY, "%s", reason ? reason : "dlopen failed");
        return false;
    }
    if (reading_run(&reading) == 0)
        shared->report.outcome = OUTCOME_READ;
    return shared->report.outcome != OUTCOME_NO_LIBRARY;
}

/* Runs in the child. If no candidate works, the reason is that of the first, the preferred one. */
static void read_library(void *context)
{
    struct shared *shared = context;
    char reason[sizeof shared->report.reason] = "";

    for (int i = 0; i < shared->candidate_count; i++) {
        shared->report.outcome = OUTCOME_CRASHED; /* unless it is set later */
        if (read_candidate(shared, &shared->candidates[i]))
            return;
        if (i == 0)
            snprintf(reason, sizeof reason, "%s", shared->report.reason);
    }
    snprintf(shared->report.library, sizeof shared->report.library, "%s",
             shared->candidates[0].file);
    snprintf(shared->report.reason, sizeof shared->report.reason, "%s", reason);
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
        /* a child that could be killed may have waited for a processor */
        shared->report.outcome = end->is_stuck ? OUTCOME_HUNG : OUTCOME_ERROR;
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
        report_end(shared, "the library terminated its process");
    }
}

struct accelerator_report *accelerator_read(enum gpu_vendor vendor, const char *path,
                                            double deadline_s, struct error *err)
{
    struct bounded_end end;
    struct shared *shared;
    pid_t stuck;

    if (!accelerator_library(vendor)) {
        error_set(err, "no known library for %s", gpu_vendor_name(vendor));
        return NULL;
    }
    shared = calloc(1, sizeof *shared);
    if (!shared) {
        error_set(err, "out of memory for the accelerators: %m");
        return NULL;
    }
    shared->candidate_count = find_candidates(vendor, path, shared->candidates, err);
    if (shared->candidate_count < 0) {
        free(shared);
        return NULL;
    }
    shared->device = -1;
    shared->report.vendor = vendor;
    shared->report.outcome = OUTCOME_CRASHED; /* unless the child sets it */
    snprintf(shared->report.library, sizeof shared->report.library, "%s",
             shared->candidates[0].file);
    stuck = bounded_find_stuck(CHILD_NAME, deadline_s);
    if (stuck > 0) {
        shared->report.outcome = OUTCOME_HUNG;
        snprintf(shared->report.reason, sizeof shared->report.reason,
                 "process %d of an earlier check is hung in the driver", (int)stuck);
    }
    if (stuck == 0 &&
        bounded_run(CHILD_NAME, deadline_s, read_library, shared, sizeof *shared, &end, err) < 0) {
        free(shared);
        return NULL;
    }
    if (stuck == 0)
        take_end(&end, deadline_s, shared);
    if (shared->report.count > ACCELERATOR_MAX)
        shared->report.count = ACCELERATOR_MAX; /* a library wrote where it must not */
    return &shared->report;
}
