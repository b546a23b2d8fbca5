/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_KMSG_H
#define MUSTER_KMSG_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

/* Reads the kernel's log /dev/kmsg, one entry per read() (Linux,
 * Documentation/ABI/testing/dev-kmsg), or a file of such entries, one per line. */

enum { KMSG_TEXT = 1024 /* bytes of an entry that are kept */ };

struct kmsg_entry {
    unsigned priority, facility; /* facility 0 is the kernel: no process can use it */
    uint64_t sequence;           /* from 0 at boot, one more for each entry */
    int64_t time_us;             /* since boot */
    char text[KMSG_TEXT];        /* without the end of line; '?' for bytes that do not print */
};

/* Parses an entry "6,339,5140900,-;NVRM: Xid ...", of which only the first line is used. Returns 0,
 * or -1 if it is no entry. */
int kmsg_parse(const char *line, size_t length, struct kmsg_entry *entry);

/* The result of kmsg_read(). */
struct kmsg_reading {
    uint64_t read;  /* entries from sequence `from` on */
    uint64_t lost;  /* entries that were overwritten before they could be read */
    uint64_t next;  /* `from` of the next reading */
    unsigned wrong; /* lines of a file that are no entries */
};

/* Calls each() for the kernel's own entries from sequence `from` on. path is the device or a
 * regular file; nothing else is opened. Never blocks. Ends after 16 MiB of entries; continue from
 * reading->next then. Returns 0; 1 if there is no log or no permission to read it (err says which);
 * or -1 with err. */
int kmsg_read(const char *path, uint64_t from,
              void (*each)(const struct kmsg_entry *entry, void *context), void *context,
              struct kmsg_reading *reading, struct error *err);

#endif
