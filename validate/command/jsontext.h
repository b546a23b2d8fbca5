/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_JSONTEXT_H
#define MUSTER_COMMAND_JSONTEXT_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

/* Returns the text as a JSON string, with U+FFFD for each byte that is no UTF-8, as in records:
 * json_string() fails for such a text, and a reader of the object would not see that it is missing.
 * NULL if memory is out. */
json_t *jsontext(const char *text);

/* The same of its first length bytes. */
json_t *jsontext_of(const char *text, size_t length);

/* Prints the value and a newline, and releases it; NULL: memory was out. flags: of json_dumps().
 * Returns 0, or -1 after printing nothing, or if the stream fails. */
int jsontext_print(FILE *stream, size_t flags, json_t *value);

#endif
