/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/jsontext.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/utf8.h"

json_t *jsontext(const char *text)
{
    char *clean = utf8_copy(text);
    json_t *string = clean ? json_string(clean) : NULL;

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

int jsontext_print(FILE *stream, size_t flags, json_t *value)
{
    char *text = value ? json_dumps(value, flags) : NULL;
    int rv = text && fprintf(stream, "%s\n", text) >= 0 ? 0 : -1;

    free(text);
    json_decref(value);
    return rv;
}
