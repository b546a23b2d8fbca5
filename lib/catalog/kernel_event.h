/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_KERNEL_EVENT_H
#define MUSTER_KERNEL_EVENT_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/catalog/catalog.h"

/* The entries of the kernel log that mean something, once: what each is, what muster does about it
 * unless KernelLog of muster.conf says otherwise, and whose word that is. muster-codes(7) lists
 * them. Pure; all strings are static. */

enum kernel_action {
    KERNEL_IGNORE,
    KERNEL_WARN,
    KERNEL_DRAIN, /* fail: with HealthDrain=yes the node's health check drains it */
};
const char *kernel_action_name(enum kernel_action action); /* "ignore", "warn", "drain" */
/* The action of that name, in any case; -1 when there is none. */
int kernel_action_parse(const char *name);

/* Who can be the cause. What a user can bring about never drains a node. */
enum kernel_cause {
    KERNEL_BY_MACHINE, /* the node's hardware or its driver */
    KERNEL_BY_EITHER,  /* that, or a job: at most a warning */
    KERNEL_BY_JOB,     /* a job's program: no fault of the node, told apart */
};

struct kernel_event {
    const char *source; /* "xid", "mlx5", ...: a word of KernelLog */
    const char *name;   /* "79", "health": the next word. Several rows may share it */
    /* The text of the entry from its first byte on; what follows is free. %d digits, %x hexadecimal
     * digits (0x before them or not), %a letters, %w bytes without a blank, %P an address on the
     * PCI bus, %D a device's name and %V that of a block device which is no hardware of the node's
     * (loop, nbd, rbd), which become the part; * any bytes; all else itself. */
    const char *pattern;
    enum kernel_cause cause;
    enum kernel_action action;
    enum fault_code code;
    bool is_consequence; /* of another entry of the same part within a minute: then no fault of
                            its own */
    unsigned times,
        within_s;     /* counts from so many entries within that time on; 0: from the first */
    const char *ends; /* it is the end of the events of its source and part with these names, with
                         blanks between; "": it is no end */
    const char *reference; /* whose word action is, or where the text is from */
    const char *meaning;   /* one line */
};

extern const struct kernel_event kernel_events[];
extern const size_t kernel_event_count;

/* The first row of that source and name, both in any case; of sources "xid" and "sxid" every number
 * from 1 to 99999 is a name, and one that has no row has that of the others, named "". NULL: there
 * is none. */
const struct kernel_event *kernel_event_find(const char *source, const char *name);

enum { KERNEL_PART = 32, KERNEL_NAME = 24 };

/* The first row whose pattern the text has; NULL: none. part gets the part's name, as it stands in
 * the text ("0000:9b:00", "nvme4"; "" where the row has none), name that of the event: the row's,
 * or the number of an XID that has no row. */
const struct kernel_event *kernel_event_match(const char *text, char part[KERNEL_PART],
                                              char name[KERNEL_NAME]);

#endif
