/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MEMORY_STREAM_H
#define MUSTER_MEMORY_STREAM_H

#include <stdio.h>

/* A text that is put together in memory, where a part of it must not be taken for the whole. As
 * open_memstream(3), whose own stream loses what finds no memory and says so by the return of that
 * one fprintf() only: fflush(), ferror() and fclose() know nothing of it (glibc 2.36, strops.c). */

/* The stream; *text and *length are as of its last fflush(), and the text is the caller's to free
 * once it is closed. NULL: no memory. It cannot be sought in. */
FILE *memory_stream(char **text, size_t *length);

/* Returns 0, or -1 with errno when the text lacks anything that was written. */
int memory_stream_close(FILE *stream);

#endif
