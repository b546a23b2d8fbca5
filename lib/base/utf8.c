/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/utf8.h"

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
