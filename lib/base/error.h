/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ERROR_H
#define MUSTER_ERROR_H

/* One line of text that says what went wrong: the object, what was found, what was expected, and
 * where it helps the next step. No newline at its end; control characters, those of UTF-8 from
 * U+0080 on included, and what is no UTF-8 are question marks. */
struct error {
    char text[512];
};

/* Formats the message into err (cut at its size; err may be NULL) and returns -1, so that a caller
 * can write `return error_set(err, ...)`. %m gives the errno of the time of the call, which is
 * left as it was. */
int error_set(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "format..: " before the text that err already holds. Returns -1. */
int error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
