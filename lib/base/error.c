/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/utf8.h"

int error_set(struct error *err, const char *format, ...)
{
    int saved_errno = errno;
    va_list arguments;

    if (err) {
        va_start(arguments, format);
        vsnprintf(err->text, sizeof err->text, format, arguments);
        va_end(arguments);
        utf8_clean(err->text);
    }
    errno = saved_errno;
    return -1;
}

int error_prefix(struct error *err, const char *format, ...)
{
    char text[sizeof err->text];
    va_list arguments;
    size_t length;

    if (!err)
        return -1;
    memcpy(text, err->text, sizeof text);
    va_start(arguments, format);
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    length = strlen(err->text);
    snprintf(err->text + length, sizeof err->text - length, ": %s", text);
    utf8_clean(err->text);
    return -1;
}
