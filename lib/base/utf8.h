/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_UTF8_H
#define MUSTER_UTF8_H

#include <stddef.h>

/* Returns the length in bytes, 1 to 4, of the UTF-8 character at text, or 0 if the bytes are not
 * one (RFC 3629: no overlong forms, no surrogates). text ends in a NUL byte, which has length 1. */
size_t utf8_length(const unsigned char *text);

/* As utf8_length(), but 0 also for characters that control a terminal: control characters, up to
 * U+009F, and characters that change the direction of writing or end a line (U+200E, U+200F, U+2028
 * to U+202E, U+2066 to U+2069). */
size_t utf8_printable_length(const unsigned char *text);

/* Replaces each byte that is not of a printable character by '?'. Use it on every text from outside
 * (node reasons, a job's name, a switch's description, output of programs) when it is read, so that
 * texts inside muster are one line and do not control a terminal. */
void utf8_clean(char *text);

/* Returns a copy with U+FFFD for each byte that is not UTF-8, malloc'd; NULL if memory is out. */
char *utf8_copy(const char *text);

#endif
