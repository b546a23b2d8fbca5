/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_UTF8_H
#define MUSTER_UTF8_H

#include <stddef.h>

/* The length in bytes, 1 to 4, of the UTF-8 character at text, or 0 when the bytes there are none
 * (RFC 3629: no overlong forms, no surrogates). text ends in a NUL byte, which is of length 1. */
size_t utf8_length(const unsigned char *text);

/* The same, but 0 for what steers a terminal as well: control characters, up to U+009F, and those
 * that turn the direction of writing or end a line, U+200E, U+200F, U+2028 to U+202E, U+2066 to
 * U+2069. */
size_t utf8_printable_length(const unsigned char *text);

/* Makes '?' of each byte that is not of a printable character. For all that others wrote (node
 * reasons, a job's name, a switch's description, what programs print), where it is read: what is
 * inside has one line and steers no terminal. */
void utf8_clean(char *text);

/* A copy with U+FFFD for each byte that is no UTF-8. malloc'd; NULL when memory is out. */
char *utf8_copy(const char *text);

#endif
