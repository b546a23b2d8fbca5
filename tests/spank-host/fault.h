/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_SPANK_HOST_FAULT_H
#define MUSTER_TESTS_SPANK_HOST_FAULT_H

#include <stdbool.h>

/* Fault injection into calls of the C library. fault.c defines malloc(), open(), read() and other
 * functions that can fail; in a program that links it and exports its symbols, the plugin calls
 * these. Calls made by hooks, and by processes that hooks fork, are numbered from 1. The call with
 * the chosen number fails, or that call and all after it. Outside of hooks no call fails. */

enum fault_kind {
    FAULT_MEMORY, /* malloc(), calloc(), realloc(), and what calls them in the C library. Not with
                     AddressSanitizer, which replaces them. */
    FAULT_FILES,  /* files, directories, sockets, pipes, processes, libraries */
    FAULT_KINDS
};

enum fault_flavour {
    FAULT_EXHAUSTED, /* ENOMEM, EMFILE, ENOSPC, EAGAIN of fork() */
    FAULT_BROKEN,    /* EIO */
    FAULT_FORBIDDEN, /* EACCES */
    FAULT_SHORT,     /* read() and write() transfer one byte; other calls fail with EINTR */
    FAULT_FLAVOURS
};

/* Whether this build can make calls of this kind fail. */
bool fault_has(enum fault_kind kind);

/* Starts counting calls of this kind at 0. Call number `at`, and with persists all after it, fails;
 * with at 0 no call fails. fault_disarm() stops both. */
void fault_arm(enum fault_kind kind, enum fault_flavour flavour, unsigned at, bool persists);
void fault_disarm(void);

/* Number of calls since fault_arm(), in all processes. */
unsigned fault_calls(void);

/* The first call that failed, as function and file: "open /etc/x". "" if no call failed. */
const char *fault_first_failed(void);

/* The return address of call number i, in the plugin or the C library; it identifies the call site.
 * NULL if there was no such call, or if i is FAULT_SITES or more. */
enum { FAULT_SITES = 65536 };
const void *fault_site(unsigned i);

/* The name of the function that call number i called; "?" where fault_site() has NULL. */
const char *fault_function(unsigned i);

#endif
