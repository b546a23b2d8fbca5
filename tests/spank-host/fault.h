/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_SPANK_HOST_FAULT_H
#define MUSTER_TESTS_SPANK_HOST_FAULT_H

#include <stdbool.h>

/* Calls to the C library that fail. fault.c defines malloc(), open(), read() and the others that
 * can fail; a program that links it and exports its symbols has the plugin call these. Inside of
 * hooks, in the process that runs them and those forked there, calls are numbered from 1; the one
 * whose number was given fails, or it and all after it. Outside of hooks nothing fails. */

enum fault_kind {
    FAULT_MEMORY, /* malloc and what calls it. Not under AddressSanitizer, whose own they are. */
    FAULT_FILES,  /* files, directories, sockets, pipes, processes, libraries */
    FAULT_KINDS
};

enum fault_flavour {
    FAULT_EXHAUSTED, /* ENOMEM, EMFILE, ENOSPC, EAGAIN of fork() */
    FAULT_BROKEN,    /* EIO */
    FAULT_FORBIDDEN, /* EACCES */
    FAULT_SHORT,     /* read() and write() do one byte; the others EINTR */
    FAULT_FLAVOURS
};

/* Whether this build can make that kind fail. */
bool fault_has(enum fault_kind kind);

/* Arms for the hooks to come; at 0 only counts. */
void fault_arm(enum fault_kind kind, enum fault_flavour flavour, unsigned at, bool persists);
void fault_disarm(void);

/* How many calls were made since fault_arm(), in all processes. */
unsigned fault_calls(void);

/* The function that failed first, and the file it was called for: "open /etc/x". "" none did. */
const char *fault_victim(void);

/* Where call number i was made from, an address in the plugin or the C library that tells call
 * sites apart; NULL past the last or the first FAULT_SITES. */
enum { FAULT_SITES = 65536 };
const void *fault_site(unsigned i);

/* Which function of which kind call number i was. */
const char *fault_function(unsigned i);

#endif
