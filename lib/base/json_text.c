/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/json_text.h"

#include <string.h>

#include "lib/base/utf8.h"

void json_text_write(FILE *stream, const char *text, const char *escaped)
{
    size_t length;

    fputc('"', stream);
    for (const unsigned char *c = (const unsigned char *)text; *c; c += length ? length : 1) {
        length = utf8_length(c);
        if (length == 0)
            fputs("\xef\xbf\xbd", stream); /* U+FFFD */
        else if (*c < 0x20 || *c == 0x7f || strchr(escaped, *c))
            fprintf(stream, "\\u%04x", *c);
        else if (*c == '"' || *c == '\\')
            fprintf(stream, "\\%c", *c);
        else
            fwrite(c, 1, length, stream);
    }
    fputc('"', stream);
}
