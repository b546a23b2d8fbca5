/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ERROR_H
#define MUSTER_ERROR_H

/* One line of text about an error: the object, what was found, what was expected, and where it
 * helps the next step. It has no newline at its end. Question marks replace control characters,
 * also those from U+0080 on, and bytes that are not UTF-8. */
struct error {
    char text[512];
};

/* Formats the message into err (cut at its size; err may be NULL) and returns -1, so that a caller
 * can write `return error_set(err, ...)`. %m is the text of errno at the call; errno is kept. */
int error_set(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "format..: " before the text that err already holds. Returns -1. */
int error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
