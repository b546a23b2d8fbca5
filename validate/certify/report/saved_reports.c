/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/memory_stream.h"
#include "validate/certify/report/run_report.h"
#include "validate/command/report.h"
#include "validate/report/format.h"

/* Returns the path with the run's name for %r; malloc'd. NULL if memory is out. */
static char *path_of(const char *path, const char *run)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = memory_stream(&text, &size);

    if (!stream)
        return NULL;
    for (; *path; path++) {
        if (*path == '%' && path[1] == 'r')
            fputs(run, stream);
        else
            fputc(*path, stream);
        if (*path == '%')
            path += path[1] != '\0';
    }
    fclose(stream);
    return text;
}

int certify_reports_can_be_saved(const struct certify_options *options, struct error *err)
{
    if (options->junit_path && format_can_save(options->junit_path, err) != 0)
        return -1;
    for (size_t i = 0; i < options->report_count; i++)
        if (format_can_save(options->reports[i].path, err) != 0)
            return -1;
    return 0;
}

/* Whether the run writes the reports of muster.conf. */
static bool has_site_reports(const struct certify *certify)
{
    return certify->conf.report_count > 0 && !certify->options.is_dry_run && geteuid() == 0;
}

void certify_site_reports_foresee(const struct certify *certify)
{
    for (size_t i = 0; has_site_reports(certify) && i < certify->conf.report_count; i++) {
        char *path = path_of(certify->conf.reports[i].path, certify->run);
        struct error err;

        if (path && format_can_save(path, &err) != 0)
            fprintf(stderr, "muster certify: this run will have no %s report: %s\n",
                    certify->conf.reports[i].format, err.text);
        free(path);
    }
}

static int save(const struct survey *survey, const char *format, const char *path)
{
    struct error err;
    int rv = format_save(format_find(format), survey, path, &err);

    if (rv != 0)
        fprintf(stderr, "muster certify: %s report: %s\n", format, err.text);
    return rv;
}

static bool is_in_cluster(const char *node, void *context)
{
    return cluster_node(context, node) != NULL;
}

int certify_reports(struct certify *certify)
{
    const struct certify_options *options = &certify->options;
    bool is_site = has_site_reports(certify);
    struct survey survey = {0};
    struct error err;
    int rv = 0;

    if (!is_site && options->report_count == 0 && !options->junit_path)
        return 0;
    if (survey_build(&certify->records, certify->run, &survey, &err) != 0) {
        fprintf(stderr, "muster certify: reports: %s\n", err.text);
        survey_clear(&survey);
        return -1;
    }
    if (report_past(&survey, certify->conf.history_path, &err) != 0)
        fprintf(stderr, "muster certify: reports without history: %s\n", err.text);
    /* an alarm about a node that Slurm has no more would last as long as the history */
    if (certify->cluster.node_count > 0)
        survey_filter_past(&survey, is_in_cluster, &certify->cluster);
    if (options->junit_path)
        rv = save(&survey, "junit", options->junit_path);
    for (size_t i = 0; i < options->report_count; i++)
        rv |= save(&survey, options->reports[i].format->name, options->reports[i].path);
    for (size_t i = 0; is_site && i < certify->conf.report_count; i++) {
        bool is_of_run = strstr(certify->conf.reports[i].path, "%r");
        char *path;

        if (is_of_run && certify->count == 0)
            continue;
        path = path_of(certify->conf.reports[i].path, certify->run);

        if (path)
            rv |= save(&survey, certify->conf.reports[i].format, path);
        free(path);
    }
    survey_clear(&survey);
    return rv ? -1 : 0;
}
