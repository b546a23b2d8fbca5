/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TAP_H
#define MUSTER_TAP_H

#include <stddef.h>

/* A function that a test defines in place of another needs no prototype (--wrap), and it uses only
 * some of its parameters. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* A test program calls the checks below and ends with `return tap_done();`. Each check prints one
 * TAP line, after a failure also a diagnosis with file and line, and returns whether it passed. */

#define ok(condition, ...) tap_ok(!!(condition), __FILE__, __LINE__, __VA_ARGS__)
#define is_int(found, expected, ...)                                                               \
    tap_is_int((long long)(found), (long long)(expected), __FILE__, __LINE__, __VA_ARGS__)
#define is_str(found, expected, ...)                                                               \
    tap_is_str((found), (expected), __FILE__, __LINE__, __VA_ARGS__)
/* |found - expected| <= tolerance */
#define is_near(found, expected, tolerance, ...)                                                   \
    tap_is_near((found), (expected), (tolerance), __FILE__, __LINE__, __VA_ARGS__)
/* text contains part */
#define has_str(text, part, ...) tap_has_str((text), (part), __FILE__, __LINE__, __VA_ARGS__)

int tap_ok(int passed, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int tap_is_int(long long found, long long expected, const char *file, int line, const char *format,
               ...) __attribute__((format(printf, 5, 6)));
int tap_is_str(const char *found, const char *expected, const char *file, int line,
               const char *format, ...) __attribute__((format(printf, 5, 6)));
int tap_is_near(double found, double expected, double tolerance, const char *file, int line,
                const char *format, ...) __attribute__((format(printf, 6, 7)));
int tap_has_str(const char *text, const char *part, const char *file, int line, const char *format,
                ...) __attribute__((format(printf, 5, 6)));

void tap_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));
void tap_skip_all(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void tap_diag(const char *format, ...) __attribute__((format(printf, 1, 2)));
int tap_done(void);

#endif
