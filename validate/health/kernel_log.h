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

/* Findings of a node's kernel log: entries grouped by event and part, kept across the checks of one
 * boot, and judged. Pure.
 *
 * An entry counts until the node is repaired: until the next boot, until the node is certified
 * again, until the driver logs that it has recovered, and for a day at most. The tests of the
 * node's devices find a fault that lasts longer. A finding drains the node once: by resuming the
 * node its administrator accepts the finding, unless a new entry comes. */

enum { KERNEL_FINDINGS = 64 /* the most findings kept, one per event and part */ };

struct kernel_finding {
    const struct kernel_event *event;
    char name[KERNEL_NAME], part[KERNEL_PART]; /* kernel_event_match() */
    uint64_t count;                            /* entries */
    int64_t first_us, last_us;                 /* since boot */
    int64_t window_us;                         /* start of the window for bursts */
    uint64_t window_count;
    bool is_burst;   /* there were as many entries in the window as the event wants */
    bool is_drained; /* the node was drained for it */
    char text[200];  /* of the last entry of that row */
};

struct kernel_log {
    char boot_id[40];
    uint64_t next; /* the sequence number of the first unread entry; 0: none has been read */
    struct kernel_finding findings[KERNEL_FINDINGS];
    size_t count;
    uint64_t left_out; /* entries without a slot, and findings replaced by a worse one */
};

/* Sets log to an empty log of the boot. */
void kernel_log_init(struct kernel_log *log, const char *boot_id);

/* Adds an entry of the kernel. Returns the finding that counts it, or NULL. */
const struct kernel_finding *kernel_log_add(struct kernel_log *log, const struct kmsg_entry *entry);

/* The judgement of a finding, by the table of events and KernelLog of the configuration. */
struct kernel_judgement {
    const struct kernel_finding *finding;
    enum verdict verdict; /* pass: a fault of a job's program, or ignored; warn; fail */
    enum fault_code code; /* of a warning or failure */
    enum kernel_cause cause;
    bool is_ignored; /* by the table or KernelLog, repaired, no burst, or explained by another */
};

/* Judges finding `index` at now_us, in microseconds since boot. A finding whose last entry is from
 * before repaired_us is ignored. */
void kernel_log_judge(const struct kernel_log *log, size_t index, const struct conf *conf,
                      int64_t now_us, int64_t repaired_us, struct kernel_judgement *judgement);

/* Formats "xid 79 (GPU has fallen off the bus), 3 entries, the last 5 min ago: NVRM: Xid ...". */
void kernel_log_describe(const struct kernel_finding *finding, int64_t now_us, char *text,
                         size_t size);

/* Notes that the node was drained for the findings that fail now. Returns their number. */
size_t kernel_log_mark_drained(struct kernel_log *log, const struct conf *conf, int64_t now_us,
                               int64_t repaired_us);

/* Removes findings whose last entry is from before repaired_us or older than two days. */
void kernel_log_prune(struct kernel_log *log, int64_t now_us, int64_t repaired_us);

/* Writes the log as text, and parses the text. A text of another format or another boot is refused:
 * -1. */
int kernel_log_write(const void *log, FILE *stream);
int kernel_log_parse(struct kernel_log *log, char *text, const char *boot_id);

#endif
