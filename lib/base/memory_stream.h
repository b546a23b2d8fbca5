/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MEMORY_STREAM_H
#define MUSTER_MEMORY_STREAM_H

#include <stdio.h>

/* A text that is put together in memory, where a part of it must not be taken for the whole. As
 * open_memstream(3), whose own stream loses what finds no memory and says so by the return of that
 * one fprintf() only: fflush(), ferror() and fclose() know nothing of it (glibc 2.36, strops.c). */

/* The stream; *text and *length are as of its last fflush(), and the text is the caller's to free
 * after fclose(). When it lacks anything that was written, fclose() has freed it: *text is NULL,
 * the return EOF with ENOMEM. NULL: no memory. ftell() works, seeking does not. */
FILE *memory_stream(char **text, size_t *length);

#endif
