/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TEXT_H
#define MUSTER_TEXT_H

#include <stddef.h>

/* As snprintf(), for what people read: a text that does not fit ends after a whole word, with
 * "..." behind it, and never inside a UTF-8 character. size is 4 or more. Returns text. */
char *text_put(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "" for one, else "s": "%zu node%s". */
const char *text_plural(size_t count);

#endif
