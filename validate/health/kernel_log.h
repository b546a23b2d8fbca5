/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_KERNEL_LOG_H
#define MUSTER_KERNEL_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/catalog/kernel_event.h"
#include "lib/conf/conf.h"
#include "lib/constants/checks_constants.h"
#include "validate/health/kmsg.h"

/* What the entries of a node's kernel log come to: folded by event and part, kept over the checks
 * of one boot, judged. Pure.
 *
 * An entry counts from when it was written until the node is repaired: until the next boot, until
 * the node is certified again, until the driver says that it has recovered, and for a day at most.
 * What lasts longer is seen where it lasts: by the tests of the node's devices. It drains the node
 * once: who resumes a drained node has accepted it, unless the same comes back. */

enum { KERNEL_FINDINGS = 64 /* events of a part that are kept */ };

struct kernel_finding {
    const struct kernel_event *event;
    char name[KERNEL_NAME], part[KERNEL_PART]; /* kernel_event_match() */
    uint64_t count;                            /* entries */
    int64_t first_us, last_us;                 /* since boot */
    int64_t window_us;                         /* of a burst: since when is counted */
    uint64_t window_count;
    bool is_burst;   /* there were so many within that time as the event wants */
    bool is_drained; /* the node was drained for it */
    char text[200];  /* of the last entry of that row */
};

struct kernel_log {
    char boot_id[40];
    uint64_t next; /* the sequence of the first entry that has not been read; 0: none has been */
    struct kernel_finding findings[KERNEL_FINDINGS];
    size_t count;
    uint64_t left_out; /* entries without a place, and findings that gave theirs to a worse one */
};

/* A log of that boot, nothing read. */
void kernel_log_init(struct kernel_log *log, const char *boot_id);

/* Takes one of the kernel's entries. Returns what it was counted as, or NULL. */
const struct kernel_finding *kernel_log_take(struct kernel_log *log,
                                             const struct kmsg_entry *entry);

/* What a finding is, by the events' table and KernelLog of the configuration. */
struct kernel_judgement {
    const struct kernel_finding *finding;
    enum verdict verdict; /* pass: a fault of a job's program, or one that is ignored; warn; fail */
    enum fault_code code; /* of a warning or failure */
    enum kernel_cause cause;
    bool is_ignored; /* by the table, KernelLog, or since something else explains it */
};

/* Judges finding `index` at now_us, in microseconds since boot. What was written before repaired_us
 * is ignored. */
void kernel_log_judge(const struct kernel_log *log, size_t index, const struct conf *conf,
                      int64_t now_us, int64_t repaired_us, struct kernel_judgement *judgement);

/* "xid 79 (GPU has fallen off the bus), 3 entries, last 5 min ago: NVRM: Xid ...". */
void kernel_log_describe(const struct kernel_finding *finding, int64_t now_us, char *text,
                         size_t size);

/* Notes that the node was drained for what fails now. Returns how many findings that are. */
size_t kernel_log_drained(struct kernel_log *log, const struct conf *conf, int64_t now_us,
                          int64_t repaired_us);

/* Forgets what was written before repaired_us or is older than two days. */
void kernel_log_prune(struct kernel_log *log, int64_t now_us, int64_t repaired_us);

/* The log as a text, and back. A text that was not written so, or is of another boot, is refused:
 * -1. */
int kernel_log_write(const void *log, FILE *stream);
int kernel_log_parse(struct kernel_log *log, char *text, const char *boot_id);

#endif
