/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TEXT_H
#define MUSTER_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

/* As snprintf(), for people: a text that does not fit ends after a whole word and with "...", never
 * inside a UTF-8 character. size is 4 or more. Returns text. */
char *text_put(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As snprintf(), cut at its size, for an expression: text_line("port %d", number).text. */
struct text_line {
    char text[512];
};
struct text_line text_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As snprintf() with the arguments of the function that calls it, those after its parameter format.
 * Has snprintf()'s value. */
#define TEXT_FORMAT(text, size, format)                                                            \
    ({                                                                                             \
        va_list values_;                                                                           \
        int length_;                                                                               \
                                                                                                   \
        va_start(values_, format);                                                                 \
        length_ = vsnprintf(text, size, format, values_);                                          \
        va_end(values_);                                                                           \
        length_;                                                                                   \
    })

/* Appends to text as snprintf() does, after separator unless text is empty. Returns 0, or -1 if it
 * does not fit and is cut. size is 1 or more. */
int text_join(char *text, size_t size, const char *separator, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Replaces each byte that is not a printable ASCII character by '?'. */
void text_make_ascii(char *text);

/* Returns the text after `begin` in the first line that begins with it; NULL if there is none. */
const char *text_after(const char *text, const char *begin);

/* Formats the time in UTC by strftime()'s format; "" if that is not possible. Returns text. */
char *text_time(char *text, size_t size, const char *format, time_t time)
    __attribute__((format(strftime, 3, 0)));

/* Returns whether the text is not empty, fits size bytes, and consists of ASCII letters, digits and
 * these other characters. */
bool text_is_name(const char *text, const char *others, size_t size);

/* Returns the text, or "" for NULL. */
static inline const char *text_of(const char *text)
{
    return text ? text : "";
}

/* Returns the number of letters to change, insert or delete between two names (Levenshtein 1966),
 * ignoring case. SIZE_MAX for a name of more than 64 letters. */
size_t text_distance(const char *one, const char *other);

/* Returns "" for one, else "s": "%zu node%s". */
const char *text_plural(size_t count);

#endif
