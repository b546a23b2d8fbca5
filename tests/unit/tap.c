/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/tap.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int count, failed;

static int report(int passed, const char *file, int line, const char *format, va_list arguments)
{
    printf("%sok %d - ", passed ? "" : "not ", ++count);
    vprintf(format, arguments);
    printf("\n");
    if (!passed) {
        failed++;
        printf("# failed at %s:%d\n", file, line);
    }
    fflush(stdout);
    return passed;
}

#define REPORT(passed)                                                                             \
    do {                                                                                           \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        report((passed), file, line, format, arguments);                                           \
        va_end(arguments);                                                                         \
    } while (0)

int tap_ok(int passed, const char *file, int line, const char *format, ...)
{
    REPORT(passed);
    return passed;
}

int tap_is_int(long long found, long long expected, const char *file, int line, const char *format,
               ...)
{
    int passed = found == expected;

    REPORT(passed);
    if (!passed)
        tap_diag("found %lld, expected %lld", found, expected);
    return passed;
}

int tap_is_str(const char *found, const char *expected, const char *file, int line,
               const char *format, ...)
{
    int passed = found == expected || (found && expected && strcmp(found, expected) == 0);

    REPORT(passed);
    if (!passed)
        tap_diag("found \"%s\", expected \"%s\"", found ? found : "(null)",
                 expected ? expected : "(null)");
    return passed;
}

int tap_is_near(double found, double expected, double tolerance, const char *file, int line,
                const char *format, ...)
{
    int passed = fabs(found - expected) <= tolerance;

    REPORT(passed);
    if (!passed)
        tap_diag("found %.17g, expected %.17g within %g", found, expected, tolerance);
    return passed;
}

int tap_has_str(const char *text, const char *part, const char *file, int line, const char *format,
                ...)
{
    int passed = text && strstr(text, part) != NULL;

    REPORT(passed);
    if (!passed)
        tap_diag("\"%s\" is not in \"%s\"", part, text ? text : "(null)");
    return passed;
}

void tap_skip(const char *format, ...)
{
    va_list arguments;

    printf("ok %d # SKIP ", ++count);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

void tap_skip_all(const char *format, ...)
{
    va_list arguments;

    printf("1..0 # SKIP ");
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    exit(0);
}

/* Each line of a diagnosis begins with "# ", as a line without it would be read as TAP. */
void tap_diag(const char *format, ...)
{
    char text[4096];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    printf("# ");
    for (const char *c = text; *c; c++) {
        putchar(*c);
        if (*c == '\n')
            printf("# ");
    }
    putchar('\n');
}

int tap_done(void)
{
    printf("1..%d\n", count);
    return failed ? 1 : 0;
}
