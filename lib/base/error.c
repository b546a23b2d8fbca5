/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/base/utf8.h"

int error_set(struct error *err, const char *format, ...)
{
    int saved_errno = errno;

    if (err) {
        TEXT_FORMAT(err->text, sizeof err->text, format);
        utf8_clean(err->text);
    }
    errno = saved_errno;
    return -1;
}

int error_prefix(struct error *err, const char *format, ...)
{
    char text[sizeof err->text];
    size_t length;

    if (!err)
        return -1;
    memcpy(text, err->text, sizeof text);
    TEXT_FORMAT(err->text, sizeof err->text, format);
    length = strlen(err->text);
    snprintf(err->text + length, sizeof err->text - length, ": %s", text);
    utf8_clean(err->text);
    return -1;
}
