/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char mark[] = "...";

static bool is_inside_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

char *text_put(char *text, size_t size, const char *format, ...)
{
    size_t end;
    int length;

    length = TEXT_FORMAT(text, size, format);
    if (length >= 0 && (size_t)length < size)
        return text;
    /* cut at the last blank that leaves room for the mark; in one long word, at a character */
    end = size - sizeof mark;
    while (end > 0 && text[end] != ' ')
        end--;
    if (end == 0)
        for (end = size - sizeof mark; end > 0 && is_inside_character(text[end]);)
            end--;
    while (end > 0 && strchr(" ,;:", text[end - 1]))
        end--;
    memcpy(text + end, mark, sizeof mark);
    return text;
}

struct text_line text_line(const char *format, ...)
{
    struct text_line line;

    TEXT_FORMAT(line.text, sizeof line.text, format);
    return line;
}

int text_join(char *text, size_t size, const char *separator, const char *format, ...)
{
    size_t length = strlen(text);
    int added;

    if (length > 0)
        length += (size_t)snprintf(text + length, size - length, "%s", separator);
    if (length >= size)
        return -1;
    added = TEXT_FORMAT(text + length, size - length, format);
    return added >= 0 && (size_t)added < size - length ? 0 : -1;
}

void text_make_ascii(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || (unsigned char)*text > '~')
            *text = '?';
}

const char *text_after(const char *text, const char *begin)
{
    size_t length = strlen(begin);

    for (; text; text = strchr(text, '\n')) {
        text += *text == '\n';
        if (strncmp(text, begin, length) == 0)
            return text + length;
    }
    return NULL;
}

char *text_time(char *text, size_t size, const char *format, time_t time)
{
    struct tm utc;

    if (!gmtime_r(&time, &utc) || strftime(text, size, format, &utc) == 0)
        *text = '\0';
    return text;
}

bool text_is_name(const char *text, const char *others, size_t size)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    size_t length = 0;

    while (text[length] && (strchr(letters, text[length]) || strchr(others, text[length])))
        length++;
    return length > 0 && length < size && !text[length];
}

size_t text_distance(const char *one, const char *other)
{
    enum { LONGEST = 64 };
    size_t row[LONGEST + 1], length = strlen(one), width = strlen(other);

    if (length > LONGEST || width > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 1; i <= length; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            size_t change = diagonal + (tolower((unsigned char)one[i - 1]) !=
                                        tolower((unsigned char)other[j - 1]));
            size_t step = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

            diagonal = row[j];
            row[j] = change < step ? change : step;
        }
    }
    return row[width];
}

const char *text_plural(size_t count)
{
    return count == 1 ? "" : "s";
}
