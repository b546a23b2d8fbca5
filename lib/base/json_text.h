/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JSON_TEXT_H
#define MUSTER_JSON_TEXT_H

#include <stdio.h>

/* Writes text as a JSON string (RFC 8259, 7). Writes as \u00xx the characters of escaped ("": none)
 * besides those that JSON requires. A byte that is not UTF-8 becomes U+FFFD. */
void json_text_write(FILE *stream, const char *text, const char *escaped);

#endif
