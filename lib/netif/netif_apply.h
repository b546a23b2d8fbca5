/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NETIF_APPLY_H
#define MUSTER_NETIF_APPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/conf/netif.h"
#include "lib/netif/netif_journal.h"
#include "lib/netif/netif_machine.h"

/* Makes settings for a job and puts back what was before. Whatever kills this at any point, the
 * journal tells what is still to be put back, and the next one of these functions does it. */

/* What was done, in lines for the log. No pointers: it crosses processes in shared memory. */
enum { REPORT_LINES = 24, REPORT_TEXT = 320 };
struct netif_report {
    unsigned made, put_back;
    unsigned failed;       /* settings asked for that are not so */
    unsigned inconclusive; /* of failed: for want of the journal, its lock, or memory, which says
                              nothing of the interfaces */
    unsigned left; /* not put back, as somebody else changed them or they cannot be; or the journal
                      that still says so could not be written */
    bool has_waited;               /* another job has the lock, or had it for more than a moment */
    unsigned line_count, left_out; /* lines that did not fit */
    struct netif_report_line {
        enum netif_line_kind {
            LINE_INFO,
            LINE_FAILED, /* a setting that is not as asked for */
            LINE_LEFT,   /* something that is not put back */
        } kind;
        char text[REPORT_TEXT];
    } lines[REPORT_LINES];
};

/* Puts back what nobody holds any more, then makes what the lines ask for and notes the job as a
 * holder of each setting that muster made. Where another one has the lock, for wait_ms at most, a
 * note (netif_notes.h) says that the job is here; the same in netif_put_back(), that it is gone.
 * Settings that are as they should be already cost nothing. What cannot be made is a line and
 * counts in failed; the rest is made all the same. */
void netif_hold(const char *journal_path, int wait_ms, const struct netif_machine *machine,
                const struct netif_line *lines, size_t line_count, uint32_t job,
                struct netif_report *report);

enum netif_back {
    BACK_ORPHANS, /* what no job holds any more, or what is of an earlier boot */
    BACK_JOB,     /* and what only this job held */
    BACK_ALL,     /* everything, whoever holds it */
};

/* Puts back, the last one made first. A value that is neither what muster made nor what was before
 * is somebody else's and stays, with a line. Where nothing was ever set this costs two system
 * calls.
 */
void netif_put_back(const char *journal_path, int wait_ms, const struct netif_machine *machine,
                    enum netif_back which, uint32_t job, struct netif_report *report);

/* Whether what failed is the interfaces' fault, so that OnInterface=refuse refuses the job: not
 * that of another job, of the journal, of memory, or of a machine that started no process or killed
 * it. is_done: the work came to its end; is_late: its deadline ended it. */
bool netif_is_at_fault(const struct netif_report *report, bool is_done, bool is_late);

/* One line more in the report. */
void netif_report_add(struct netif_report *report, enum netif_line_kind kind, const char *format,
                      ...) __attribute__((format(printf, 3, 4)));

/* ---- The decisions, without the doing: netif_plan.c */

enum plan_make {
    PLAN_NOTHING, /* it is so already */
    PLAN_MAKE,    /* the journal has it now: write that, then make it */
};

/* A setting is wanted on an interface, where `found` is in force. Notes in the journal what was
 * before and who wants it. *is_dirty is set when that changed the journal, *is_foreign when
 * somebody else had changed the value since muster made it: what they made is what is put back
 * then. Returns -1 when memory is out. */
int plan_make(struct netif_journal *journal, const char *interface, int index,
              enum netif_setting setting, long found, long wanted, uint32_t job, bool *is_dirty,
              bool *is_foreign);

enum plan_back {
    PLAN_IS_BACK, /* it is what it was */
    PLAN_BACK,    /* make it what it was */
    PLAN_FOREIGN, /* somebody else changed it: theirs */
};
enum plan_back plan_back(const struct netif_entry *entry, long found);

#endif
