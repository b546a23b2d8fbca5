/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JOB_LOG_H
#define MUSTER_JOB_LOG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "lib/base/error.h"
#include "lib/node/part_counters.h"

/* The node's log of jobs: which counters of the node changed while which job ran. The prolog saves
 * the counters in a note; the epilog compares them with the counters then and logs the changes.
 * Notes are root's files in /run/muster/jobs, which a reboot removes. The log is root's file "jobs"
 * beside the certificate, of at most JOB_LOG_BYTES: new lines replace the oldest. */

#define JOB_NOTES "/run/muster/jobs"

enum {
    JOB_LOG_BYTES = 512 * 1024,
    JOB_NOTES_MOST = 512,
    JOB_OTHERS = 8,      /* other jobs named in a line */
    JOB_LINES_MOST = 64, /* lines that one call adds, of counters or of the kernel log */
    JOB_LOG_TEXT = 160,
};

enum job_event {
    JOB_RAN,     /* the job has ended: value is its duration in seconds */
    JOB_COUNTED, /* a counter increased by value */
    JOB_LOGGED,  /* the kernel logged value entries of one kind, caused by a job's program */
    JOB_EVENTS
};

struct job_line {
    enum job_event event;
    uint32_t job;
    uid_t uid;
    int64_t begin_s, end_s; /* since 1970: of the job, or of the events while it ran */
    size_t other_count;     /* jobs that ran at the same time and may be the cause too */
    uint32_t others[JOB_OTHERS];
    char part[PART_NAME];       /* or "" */
    char counter[COUNTER_NAME]; /* of JOB_COUNTED */
    uint64_t value;
    char text[JOB_LOG_TEXT]; /* of JOB_LOGGED; or "" */
};

/* The paths of the notes directory and the log. */
struct job_log {
    const char *notes;
    char path[300];
};

/* Sets the paths of this machine. Returns 0, or -1 if certificate_path has no directory. */
int job_log_open(struct job_log *log, const char *certificate_path);

/* In the prolog: writes the note with the counters at the job's begin. Removes a note of another
 * user's earlier job of that number, and the oldest note if there are too many. Returns 0, or -1
 * with err. */
int job_note_write(const struct job_log *log, uint32_t job, uid_t uid,
                   const struct part_counters *counters, struct error *err);
/* Reads the note of the job. Returns 0 with *uid, or 1 if there is no note that can be read. The
 * caller clears counters. */
int job_note_read(const struct job_log *log, uint32_t job, uid_t *uid,
                  struct part_counters *counters);
void job_note_remove(const struct job_log *log, uint32_t job);

/* In the epilog: logs the counters that increased from then to now, with the other jobs of that
 * time, and removes the note. now_s: since 1970. Returns 0, or -1 with err. */
int job_log_end(const struct job_log *log, uint32_t job, uid_t uid,
                const struct part_counters *then, const struct part_counters *now, int64_t now_s,
                struct error *err);

/* Logs each line once for every job that ran at its time, begin_s to end_s, JOB_LINES_MOST lines at
 * most. Ignores job, uid and others of lines. Returns the number of logged lines, or -1 with
 * err. */
int job_log_attribute(const struct job_log *log, const struct job_line *lines, size_t count,
                      struct error *err);

/* Calls each() for the lines of the file at path, the oldest first, and skips invalid lines.
 * Returns the number of lines, 0 also if there is no file, or -1 with err. */
int job_log_read(const char *path, void (*each)(const struct job_line *line, void *context),
                 void *context, struct error *err);

/* Formats "12 symbol_errors while job 4711 of user 1000 ran, 2026-11-25 17:02 to 17:40 UTC; shared
 * with jobs 4712, 4713". */
void job_line_describe(const struct job_line *line, char *text, size_t size);

#endif
