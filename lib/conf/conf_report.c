/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/conf/conf_table.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"

/* Report=FORMAT:PATH, any number of lines. */

static const char *const formats[] = {"table", "html", "junit", "prometheus", "csv", "json"};
enum { FORMATS = sizeof formats / sizeof *formats };

const char *conf_report_format(size_t index)
{
    return index < FORMATS ? formats[index] : NULL;
}

/* Checks a path with %r (the run's name) and %% (a percent sign). */
static int path_check(const char *path, struct error *err)
{
    if (strlen(path) >= sizeof((struct conf_report *)0)->path)
        return error_set(err, "found a path of %zu bytes, allowed %zu", strlen(path),
                         sizeof((struct conf_report *)0)->path - 1);
    for (const char *at = strchr(path, '%'); at; at = strchr(at + 2, '%'))
        if (at[1] != 'r' && at[1] != '%')
            return error_set(err, "found \"%.2s\" in the path, allowed %%r (the run) and %%%%", at);
    return 0;
}

int conf_report_set(struct conf *conf, const char *value, struct error *err)
{
    const char *colon = strchr(value, ':');
    size_t i = 0;

    while (i < FORMATS && (!colon || strlen(formats[i]) != (size_t)(colon - value) ||
                           strncmp(value, formats[i], strlen(formats[i])) != 0))
        i++;
    if (i == FORMATS || colon[1] != '/')
        return error_set(err,
                         "found \"%.60s\", allowed table, html, junit, prometheus, csv or json, a "
                         "colon and an absolute path",
                         value);
    if (path_check(colon + 1, err) != 0)
        return -1;
    if (!GROW(conf->reports, conf->report_count))
        return error_set(err, "out of memory");
    conf->reports[conf->report_count].format = formats[i];
    snprintf(conf->reports[conf->report_count].path, sizeof conf->reports->path, "%s", colon + 1);
    conf->report_count++;
    return 0;
}

void conf_reports_print(const struct conf *conf, FILE *stream)
{
    for (size_t i = 0; i < conf->report_count; i++)
        fprintf(stream, "%s%s:%s", i > 0 ? "\nReport=" : "", conf->reports[i].format,
                conf->reports[i].path);
}
