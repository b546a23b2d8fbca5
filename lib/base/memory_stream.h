/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MEMORY_STREAM_H
#define MUSTER_MEMORY_STREAM_H

#include <stdio.h>

/* A stream to a text in memory, as open_memstream(3), that reports whether the text is complete. If
 * memory is out, the stream of open_memstream(3) loses data, and only that one fprintf() returns an
 * error: fflush(), ferror() and fclose() do not (glibc 2.36, strops.c). */

/* Opens the stream; NULL if memory is out. *text and *length are those of its last fflush(). The
 * caller frees the text after fclose(). If the text lacks something that was written, fclose() has
 * freed it: then *text is NULL, and fclose() returns EOF with ENOMEM. ftell() works, fseek() does
 * not. */
FILE *memory_stream(char **text, size_t *length);

#endif
