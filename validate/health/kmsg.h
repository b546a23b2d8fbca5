/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_KMSG_H
#define MUSTER_KMSG_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

/* /dev/kmsg: the kernel's log, an entry a read (Linux, Documentation/ABI/testing/dev-kmsg), or a
 * file of such entries, a line each. */

enum { KMSG_TEXT = 1024 /* bytes of an entry that are looked at */ };

struct kmsg_entry {
    unsigned priority, facility; /* facility 0 is the kernel: no process can write with it */
    uint64_t sequence;           /* from 0 at boot, one more each */
    int64_t time_us;             /* since boot */
    char text[KMSG_TEXT];        /* without its end of line; bytes that do not print are '?' */
};

/* "6,339,5140900,-;NVRM: Xid ...": the text of an entry, of which the first line counts. Returns 0,
 * or -1 when it is none. */
int kmsg_parse(const char *line, size_t length, struct kmsg_entry *entry);

/* What a reading came to. */
struct kmsg_reading {
    uint64_t read;  /* entries from the wanted one on */
    uint64_t lost;  /* entries that were overwritten before they could be read */
    uint64_t next;  /* the sequence to go on with */
    unsigned wrong; /* lines of a file that are no entries */
};

/* Calls each() for the kernel's own entries from sequence `from` on. path is the device
 * or a regular file; nothing else is opened. Never blocks; ends after 16 MiB of them, and goes on
 * from reading->next the next time. Returns 0; 1 when there is no log, or it may not be read (err
 * says which); -1 with err. */
int kmsg_read(const char *path, uint64_t from,
              void (*each)(const struct kmsg_entry *entry, void *context), void *context,
              struct kmsg_reading *reading, struct error *err);

#endif
