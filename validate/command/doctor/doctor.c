/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/doctor/doctor.h"

#include <stdlib.h>
#include <string.h>

#include "validate/report/table.h"

struct options {
    const char *config, *root, *nodes, *bundle;
    bool is_here, as_json;
};

static const struct option_row rows[] = {
    OPTION('b', "bundle", "FILE",
           "also write a tar for support with the output, findings and configuration; omits lines "
           "that may contain a secret",
           TEXT, OPTION_FIELD(struct options, bundle)),
    COMMAND_CONFIG(struct options),
    OPTION('\0', "here", NULL, "check only this host, as a node", FLAG,
           OPTION_FIELD(struct options, is_here)),
    OPTION('j', "json", NULL, "print a JSON object for each finding, nothing else", FLAG,
           OPTION_FIELD(struct options, as_json)),
    OPTION('r', "root", "DIR", "read a recorded tree instead of this machine; only with --here",
           TEXT, OPTION_FIELD(struct options, root)),
    OPTION('w', "nodes", "LIST", "check these nodes, instead of those of the default partition",
           TEXT, OPTION_FIELD(struct options, nodes)),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster doctor",
    .summary = "Checks what muster needs on this host, the controller and the nodes. "
               "Prints findings and what to fix. Changes nothing.",
    .status = "0 no fault or warnings only, 1 a fault, 2 usage, 3 cannot check something.",
    .rows = rows,
};

static int options_read(int argc, char **argv, struct options *options)
{
    int status = command_options(&set, argc, argv, options);

    if (status >= 0)
        return status;
    if (options->root && !options->is_here)
        return command_misuse(argv[0], "--root requires --here: a recorded tree has no controller");
    if (options->nodes && options->is_here)
        return command_misuse(argv[0], "--here and --nodes are mutually exclusive");
    return -1;
}

static int status_of(const struct findings *findings)
{
    enum verdict worst = VERDICT_PASS;

    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].verdict > worst)
            worst = findings->items[i].verdict;
    return worst == VERDICT_FAIL                                 ? COMMAND_FAIL
           : worst == VERDICT_UNKNOWN || findings->out_of_memory ? COMMAND_UNKNOWN
                                                                 : COMMAND_PASS;
}

/* Returns the path of muster.conf that the user named, as command_node_open() reads it, or NULL. */
static const char *named_configuration(const struct options *options)
{
    const char *named = options->config || options->root ? options->config : getenv("MUSTER_CONF");

    return named && *named ? named : NULL;
}

/* Returns the exit status. */
static int report(const char *name, const struct options *options, const struct doctor_site *site,
                  struct findings *findings)
{
    struct error err;

    doctor_compare(findings);
    for (size_t i = 0; options->as_json && i < findings->count; i++)
        doctor_give(stdout, &findings->items[i]);
    if (!options->as_json)
        doctor_print(stdout, findings, table_has_colour(stdout));
    if (options->bundle && doctor_bundle(options->bundle, site, findings, &err) != 0)
        return command_failed(COMMAND_UNKNOWN, name, "%s", err.text);
    return status_of(findings);
}

static int doctor(const char *name, const struct options *options,
                  const struct node_view *node_view)
{
    struct doctor_site site = {.root = strcmp(node_view->root, "/") == 0 ? "" : node_view->root,
                               .config = named_configuration(options),
                               .conf = &node_view->conf,
                               .inventory = node_view->inventory,
                               .fabric = &node_view->fabric};
    struct findings findings = {0};
    const char *node = command_node(NULL, node_view->root); /* "" for a recorded tree */
    struct error err = {""};
    int status;

    if ((options->is_here ? slurm_directory : slurm_client_directory)(
            site.root, site.slurm_directory, sizeof site.slurm_directory, &site.slurm_error) != 0)
        *site.slurm_directory = '\0';
    else
        slurm_lines_read(site.root, site.slurm_directory, "slurm.conf", &site.slurm,
                         &site.slurm_error);
    doctor_host(&site,
                !options->is_here ? "head"
                : *node           ? node
                                  : "here",
                !options->is_here, &findings);
    if (!options->is_here && doctor_cluster(options->nodes, &findings, &err) != 0)
        status =
            command_failed(options->nodes ? COMMAND_USAGE : COMMAND_UNKNOWN, name, "%s", err.text);
    else
        status = report(name, options, &site, &findings);
    doctor_clear(&findings);
    slurm_lines_clear(&site.slurm);
    return status;
}

/* Whether the default configuration cannot be read; look_configuration() then reports it. */
static bool has_broken_configuration(const struct options *options)
{
    const char *named = named_configuration(options);
    struct conf conf;
    struct error err;
    bool is_broken = !named && conf_read(NULL, &conf, &err) < 0;

    if (!named)
        conf_clear(&conf);
    return is_broken;
}

int command_doctor(int argc, char **argv)
{
    static struct node_view node_view;
    struct options options = {0};
    int status = options_read(argc, argv, &options);

    if (status >= 0)
        return status;
    if (!options.root && has_broken_configuration(&options))
        options.root = ""; /* this machine, with the defaults */
    status = command_node_open(argv[0], options.root, options.config, &node_view);
    if (status == COMMAND_PASS)
        status = doctor(argv[0], &options, &node_view);
    command_node_close(&node_view);
    return status;
}
