/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JSON_TEXT_H
#define MUSTER_JSON_TEXT_H

#include <stdio.h>

/* Writes text as a JSON string (RFC 8259, 7), with the bytes of escaped ("" is none) as \u00xx
 * besides what has to be. A byte that is no UTF-8 becomes U+FFFD. */
void json_text_write(FILE *stream, const char *text, const char *escaped);

#endif
