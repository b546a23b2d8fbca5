/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JOB_LOG_H
#define MUSTER_JOB_LOG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "lib/base/error.h"
#include "lib/node/part_counters.h"

/* What happened on this node while which job ran. The prolog leaves a note of what the node's parts
 * have counted, the epilog holds it against what they have counted then, and writes what moved to
 * the node's log of jobs. Notes are root's files in /run/muster/jobs, which are gone with the boot;
 * the log is the file "jobs" beside the certificate, root's as well, of at most JOB_LOG_BYTES: the
 * oldest lines make room. */

#define JOB_NOTES "/run/muster/jobs"

enum {
    JOB_LOG_BYTES = 512 * 1024,
    JOB_NOTES_MOST = 512,
    JOB_OTHERS = 8, /* other jobs that are named */
    JOB_MOVED = 64, /* counters of one job that are kept, and entries of the kernel log */
    JOB_LOG_TEXT = 160,
};

enum job_event {
    JOB_RAN,     /* it has ended: value is how many seconds it took */
    JOB_COUNTED, /* a counter moved by value */
    JOB_LOGGED,  /* the kernel logged value entries of one kind, the fault of a job's program */
    JOB_EVENTS
};

struct job_line {
    enum job_event event;
    uint32_t job;
    uid_t uid;
    int64_t begin_s, end_s; /* since 1970: of the job, or of what was seen while it ran */
    size_t other_count;     /* jobs that ran at that time as well: it may have been theirs */
    uint32_t others[JOB_OTHERS];
    char part[PART_NAME];       /* "" */
    char counter[COUNTER_NAME]; /* of JOB_COUNTED */
    uint64_t value;
    char text[JOB_LOG_TEXT]; /* of JOB_LOGGED; "" */
};

/* Where notes and log are. */
struct job_log {
    const char *notes;
    char path[300];
};

/* Those of this machine. Returns 0, or -1 when the certificate has no directory. */
int job_log_open(struct job_log *log, const char *certificate_path);

/* In the prolog: leaves the note, the counters of the job's begin, in the place of one of an
 * earlier job of that number, and takes away the oldest of too many. Returns 0, or -1 with err. */
int job_note_leave(const struct job_log *log, uint32_t job, uid_t uid,
                   const struct part_counters *counters, struct error *err);
/* The note of that job; counters to be cleared. Returns 0 with *uid, 1 when there is none that can
 * be read. */
int job_note_read(const struct job_log *log, uint32_t job, uid_t *uid,
                  struct part_counters *counters);
void job_note_remove(const struct job_log *log, uint32_t job);

/* In the epilog: adds to the log what moved from then to now, with the other jobs of that time, and
 * removes the note. now_s: since 1970. Returns 0, or -1 with err. */
int job_log_end(const struct job_log *log, uint32_t job, uid_t uid,
                const struct part_counters *then, const struct part_counters *now, int64_t now_s,
                struct error *err);

/* Adds each of the lines once for every job that ran in its time, begin_s to end_s; job, uid and
 * others are not looked at. Returns how many were added, or -1 with err. */
int job_log_attribute(const struct job_log *log, const struct job_line *lines, size_t count,
                      struct error *err);

/* Calls each() for the lines of the file at path, the oldest first; what is no line is passed over.
 * Returns how many, 0 also when there is no file, or -1 with err. */
int job_log_read(const char *path, void (*each)(const struct job_line *line, void *context),
                 void *context, struct error *err);

/* "12 symbol_errors, while job 4711 of user 1000 ran from 2026-11-25 17:02 to 17:40 UTC; shared
 * with jobs 4712, 4713". */
void job_line_describe(const struct job_line *line, char *text, size_t size);

#endif
