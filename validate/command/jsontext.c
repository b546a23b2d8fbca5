/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/jsontext.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/utf8.h"

json_t *jsontext(const char *text)
{
    char *clean = malloc(3 * strlen(text) + 1);
    size_t size = 0;
    json_t *string;

    if (!clean)
        return NULL;
    while (*text) {
        size_t length = utf8_length((const unsigned char *)text);

        memcpy(clean + size, length ? text : "\xef\xbf\xbd", length ? length : 3);
        size += length ? length : 3;
        text += length ? length : 1;
    }
    string = json_stringn(clean, size);
    free(clean);
    return string;
}

json_t *jsontext_of(const char *text, size_t length)
{
    char *copy = strndup(text, length);
    json_t *string = copy ? jsontext(copy) : NULL;

    free(copy);
    return string;
}
