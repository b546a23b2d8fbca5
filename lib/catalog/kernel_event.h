/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_KERNEL_EVENT_H
#define MUSTER_KERNEL_EVENT_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/catalog/catalog.h"

/* The entries of the kernel log that muster knows: their meaning, muster's action, which KernelLog
 * of muster.conf can change, and its source. muster-codes(7) lists them. Pure; all strings are
 * static. */

enum kernel_action {
    KERNEL_IGNORE,
    KERNEL_WARN,
    KERNEL_DRAIN, /* fail: with HealthDrain=yes the node's health check drains it */
};
const char *kernel_action_name(enum kernel_action action); /* "ignore", "warn", "drain" */
/* Returns the action with this name, in any case; -1 if there is none. */
int kernel_action_parse(const char *name);

/* The possible cause of an entry. An entry that a user can cause never drains a node. */
enum kernel_cause {
    KERNEL_BY_MACHINE, /* the node's hardware or its driver */
    KERNEL_BY_EITHER,  /* the machine or a job: at most a warning */
    KERNEL_BY_JOB,     /* a job's program: not a fault of the node, reported separately */
};

struct kernel_event {
    const char *source; /* "xid", "mlx5", ...: the first word of KernelLog */
    const char *name;   /* "79", "health": the second word. Several rows may share it */
    /* The beginning of the entry's text; any text may follow. %d digits, %x hexadecimal digits
     * (with or without 0x), %a letters, %w bytes without a blank, * any bytes. %P an address on the
     * PCI bus, %D a device's name, %V the name of a block device that is not hardware of the node
     * (loop, nbd, rbd): these three are the part. Any other byte stands for itself. */
    const char *pattern;
    enum kernel_cause cause;
    enum kernel_action action;
    enum fault_code code;
    bool is_consequence; /* a consequence of another entry of the same part within a minute: then no
                            fault of its own */
    unsigned times, within_s; /* counts only if `times` entries come within within_s seconds; 0: the
                                 first entry counts */
    const char *ends; /* names of events, with blanks between, that this entry ends for its source
                         and part; "": it ends none */
    const char *reference; /* the source of the action or of the text */
    const char *meaning;   /* one line */
};

extern const struct kernel_event kernel_events[];
extern const size_t kernel_event_count;

/* Returns the first row with this source and name, both in any case, or NULL. For the sources "xid"
 * and "sxid" any number from 1 to 99999 is a name: a number without a row gets the row named "". */
const struct kernel_event *kernel_event_find(const char *source, const char *name);

enum { KERNEL_PART = 32, KERNEL_NAME = 24 };

/* Returns the first row whose pattern matches the text, or NULL. part gets the part's name from the
 * text ("0000:9b:00", "nvme4"; "" if the row has none), name the event's name: the row's, or the
 * number of an XID without a row. */
const struct kernel_event *kernel_event_match(const char *text, char part[KERNEL_PART],
                                              char name[KERNEL_NAME]);

#endif
