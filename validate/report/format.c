/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/report/format.h"

#include <string.h>

#include "lib/base/regular_file.h"
#include "lib/base/atomic_file.h"

const struct report_format report_formats[] = {
    {"table", "a readable table", overview_write},
    {"html", "one self-contained HTML page; needs no network", html_write},
    {"junit", "JUnit XML, for CI systems", junit_write},
    {"prometheus", "metrics for node_exporter's textfile collector", prometheus_write},
    {"csv", "one line per record, for spreadsheets", csv_write},
    {"json", "the records as JSON lines", json_write},
    {0},
};

const struct report_format *format_find(const char *name)
{
    for (const struct report_format *format = report_formats; format->name; format++)
        if (strcmp(format->name, name) == 0)
            return format;
    return NULL;
}

static int write_straight(const struct report_format *format, const struct survey *survey,
                          const char *path, struct error *err)
{
    FILE *stream = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    int rv = stream ? format->write(stream, survey) : -1;

    if (rv == 0 && fflush(stream) != 0)
        rv = -1;
    if (rv != 0)
        error_set(err, "%s: %m", stream == stdout ? "standard output" : path);
    if (stream && stream != stdout && fclose(stream) != 0 && rv == 0)
        rv = error_set(err, "%s: %m", path);
    return rv;
}

int format_can_save(const char *path, struct error *err)
{
    struct atomic_file file;

    if (strcmp(path, "-") == 0 || is_special(path))
        return 0;
    if (atomic_file_begin(&file, path, 0666, err) != 0)
        return -1;
    atomic_file_discard(&file, NULL);
    return 0;
}

int format_save(const struct report_format *format, const struct survey *survey, const char *path,
                struct error *err)
{
    struct atomic_file file;

    if (strcmp(path, "-") == 0 || is_special(path))
        return write_straight(format, survey, path, err);
    if (atomic_file_begin(&file, path, 0666, err) != 0)
        return -1;
    return format->write(file.stream, survey) == 0 ? atomic_file_commit(&file, err)
                                                   : atomic_file_discard(&file, err);
}
