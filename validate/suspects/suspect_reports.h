/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SUSPECT_REPORTS_H
#define MUSTER_SUSPECT_REPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#include "lib/base/error.h"
#include "lib/constants/checks_constants.h"

/* Suspect reports: what users' preflights report about nodes, as small files of the users in a
 * directory of the node; a reason to test a node again and never more. The directory is root's and
 * of mode 1733: anybody may leave a file, and only root may list the files or remove those of
 * others. It is a file system of its own in memory, so that its files fill nothing else
 * (spank/suspects.h). Root reads it, and trusts nothing in it. */

#define SUSPECT_REPORTS_DIRECTORY "/run/muster/suspects"
#define SUSPECT_REPORT_RUN "preflight-%u-%u" /* the run of a suspect report's record: job, user */

enum {
    SUSPECT_REPORT_BYTES = 4096, /* of a file */
    SUSPECT_REPORTS_OF_USER =
        16, /* read per user, the newest; a limit per day, as older ones do not count */
    SUSPECT_REPORTS_MAX = 256,      /* read in all: of each user the newest, then the second, ... */
    SUSPECT_REPORTS_SEEN = 1 << 17, /* files that are looked at; directories are not counted */
    SUSPECT_REPORTS_CLEARED = 1 << 15, /* entries that are no reports, removed in one reading */
};

struct suspect_report {
    uid_t uid; /* the file's owner: all else is what that user says */
    uint32_t job_id;
    time_t made;             /* of the file */
    char node[64];           /* the node that it is about */
    char test[64], part[64]; /* printable ASCII, may be "" */
    char message[256];
};

/* Writes the path of SUSPECT_REPORTS_DIRECTORY below root; "" is this machine. */
void suspect_reports_directory(const char *root, char *path, size_t size);

/* Describes the report: "a preflight of job 12, user 1000, 2026-11-21 12:30 UTC: links: eth1 sends
 * ..." */
void suspect_report_describe(const struct suspect_report *report, char *text, size_t size);

/* Writes the suspect report as a file of the caller's, whole or not at all. Returns 0, 1 if there
 * is one of this user, job and node already, or -1 with err. */
int suspect_report_write(const char *directory, const struct suspect_report *report,
                         struct error *err);

/* Prints the suspect report as a line for `muster suspects --leave` on the node that keeps it. */
void suspect_report_print(FILE *stream, const char *holder, const char *node, uint32_t job_id,
                          const char *test, const char *part, const char *message);

/* The files that were not read because their owner has left too many. */
struct suspect_reports_overflow {
    size_t files;
    uid_t uid; /* who left most of them */
};

/* Reads the suspect reports. Entries are no reports if they are not regular files of one name,
 * larger than SUSPECT_REPORT_BYTES, older than SUSPECT_REPORT_AGE_S or not named after their owner.
 * A file in another format is passed over; bytes that are not printable become '?'. *reports is
 * malloc'd, oldest first; the caller frees. Files beyond SUSPECT_REPORTS_OF_USER and
 * SUSPECT_REPORTS_MAX are counted in overflow. These are removed, and up to SUSPECT_REPORTS_CLEARED
 * entries that are no reports, if the directory is of mode 1733 and so the one for all users:
 * nobody's files stand in the way of another's. Returns the number of reports, 0 if there is no
 * directory, or -1 with err. */
int suspect_reports_read(const char *directory, struct suspect_report **reports,
                         struct suspect_reports_overflow *overflow, struct error *err);

/* Removes the suspect reports about those nodes (count names), and entries that are no reports as
 * suspect_reports_read() does. Returns how many suspect reports were removed, or -1 with err. */
int suspect_reports_remove(const char *directory, char *const *nodes, size_t count,
                           struct error *err);

#endif
