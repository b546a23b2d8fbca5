/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/utf8.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

size_t utf8_length(const unsigned char *text)
{
    size_t length;
    unsigned code;

    if (text[0] < 0x80)
        return 1;
    if (text[0] >= 0xc2 && text[0] <= 0xdf) {
        length = 2;
        code = text[0] & 0x1f;
    } else if ((text[0] & 0xf0) == 0xe0) {
        length = 3;
        code = text[0] & 0x0f;
    } else if (text[0] >= 0xf0 && text[0] <= 0xf4) {
        length = 4;
        code = text[0] & 0x07;
    } else {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    if ((length == 3 && (code < 0x800 || (code >= 0xd800 && code <= 0xdfff))) ||
        (length == 4 && (code < 0x10000 || code > 0x10ffff)))
        return 0;
    return length;
}

/* Returns whether it is a character of three bytes that changes the direction of writing or ends a
 * line. */
static bool is_direction_or_end(const unsigned char *text)
{
    if (text[0] != 0xe2)
        return false;
    return (text[1] == 0x80 &&
            (text[2] == 0x8e || text[2] == 0x8f || (text[2] >= 0xa8 && text[2] <= 0xae))) ||
           (text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9);
}

size_t utf8_printable_length(const unsigned char *text)
{
    bool is_late = text[0] == 0xc2 && text[1] < 0xa0; /* U+0080 to U+009F */

    return is_late || text[0] < 0x20 || text[0] == 0x7f || is_direction_or_end(text)
               ? 0
               : utf8_length(text);
}

void utf8_clean(char *text)
{
    while (*text) {
        size_t length = utf8_printable_length((const unsigned char *)text);

        if (length == 0)
            *text = '?';
        text += length ? length : 1;
    }
}

char *utf8_copy(const char *text)
{
    char *copy = malloc(3 * strlen(text) + 1), *end = copy;

    while (copy && *text) {
        size_t length = utf8_length((const unsigned char *)text);

        memcpy(end, length ? text : "\xef\xbf\xbd", length ? length : 3);
        end += length ? length : 3;
        text += length ? length : 1;
    }
    if (copy)
        *end = '\0';
    return copy;
}
