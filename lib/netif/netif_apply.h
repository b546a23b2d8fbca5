/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NETIF_APPLY_H
#define MUSTER_NETIF_APPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/conf/netif.h"
#include "lib/netif/netif_journal.h"
#include "lib/netif/netif_machine.h"

/* Makes settings for a job and restores the former values. If the process is killed at any point,
 * the journal lists what is still to be restored, and the next call of these functions does it. */

/* The results, with lines for the log. No pointers: it crosses processes in shared memory. */
enum { REPORT_LINES = 24, REPORT_TEXT = 320 };
struct netif_report {
    unsigned made, restored;
    unsigned failed;       /* settings that are not as configured */
    unsigned inconclusive; /* of failed: because the journal, its lock or memory was not available,
                              or addresses changed while they were read, which shows nothing about
                              the interfaces */
    unsigned left;   /* settings not restored, because somebody else changed them or it failed; or
                        the journal could not be read, locked or written */
    bool has_waited; /* another job has the lock, or had it for NETIF_WAITED_MS */
    unsigned line_count, left_out; /* lines that did not fit */
    struct netif_report_line {
        enum netif_line_kind {
            LINE_INFO,
            LINE_FAILED,       /* a setting that is not as configured */
            LINE_NOT_RESTORED, /* a setting that is not restored */
        } kind;
        char text[REPORT_TEXT];
    } lines[REPORT_LINES];
};

/* Restores settings that no job holds any more, then makes the settings of the lines and enters the
 * job in the journal as a holder of each setting that muster made. If another process has the lock,
 * leaves a note (netif_notes.h) that the job is here, and waits for wait_ms at most; the same in
 * netif_restore(), that the job is gone. Does not touch a setting that is right already. A setting
 * that cannot be made adds a line and counts in failed; the others are made all the same. */
void netif_apply(const char *journal_path, int wait_ms, const struct netif_machine *machine,
                 const struct netif_line *lines, size_t line_count, uint32_t job,
                 struct netif_report *report);

enum netif_scope {
    RESTORE_ORPHANS, /* settings that no job holds any more, or that are of an earlier boot */
    RESTORE_JOB,     /* also settings that only this job held */
    RESTORE_ALL,     /* all settings, whoever holds them */
};

/* Restores settings, the last one made first. A value that is neither muster's nor the former value
 * was set by somebody else: it stays, and adds a line. If muster has set nothing since boot, this
 * takes two system calls. */
void netif_restore(const char *journal_path, int wait_ms, const struct netif_machine *machine,
                   enum netif_scope which, uint32_t job, struct netif_report *report);

/* Returns whether an interface caused a failure, so that OnInterface=refuse refuses the job. Other
 * causes do not count: another job, the journal, memory, or a process that could not be started or
 * was killed. is_done: the work was completed; is_late: its deadline ended it. */
bool netif_is_at_fault(const struct netif_report *report, bool is_done, bool is_late);

/* Adds a line to the report. */
void netif_report_add(struct netif_report *report, enum netif_line_kind kind, const char *format,
                      ...) __attribute__((format(printf, 3, 4)));

/* ---- The decisions without their execution: netif_plan.c */

enum plan_make {
    PLAN_NOTHING, /* the setting has the wanted value already */
    PLAN_MAKE,    /* the setting is in the journal now: write the journal, then make the setting */
};

/* Plans the setting `wanted` of an interface, whose present value is `found`. Enters the former
 * value and the job in the journal. *is_dirty is set if that changed the journal, *is_foreign if
 * somebody else has changed the value since muster made it: then this value is restored later.
 * Returns an enum plan_make, or -1 if memory is out. */
int plan_make(struct netif_journal *journal, const char *interface, int index,
              enum netif_setting setting, long found, long wanted, uint32_t job, bool *is_dirty,
              bool *is_foreign);

enum plan_restore {
    PLAN_IS_RESTORED, /* it has the former value already */
    PLAN_RESTORE,     /* restore the former value */
    PLAN_FOREIGN,     /* somebody else has changed it: leave it */
};
enum plan_restore plan_restore(const struct netif_entry *entry, long found);

#endif
