/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_JSONTEXT_H
#define MUSTER_COMMAND_JSONTEXT_H

#include <jansson.h>

/* The text as a JSON string, U+FFFD for each byte that is no UTF-8, as in records: json_string()
 * makes nothing of such a text, and whoever reads the object would not see that something is
 * missing. NULL when memory is out. */
json_t *jsontext(const char *text);

/* The same of its first length bytes. */
json_t *jsontext_of(const char *text, size_t length);

#endif
