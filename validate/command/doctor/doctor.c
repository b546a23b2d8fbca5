/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/doctor/doctor.h"

#include <getopt.h>
#include <string.h>

#include "validate/report/table.h"

struct options {
    const char *config, *root, *nodes, *bundle;
    bool is_here, as_json;
};

static void print_help(void)
{
    puts("Usage: muster doctor [OPTION...]\n"
         "Looks at all that muster needs, on this host, the controller and the nodes: what it\n"
         "finds, and what to do where it does not hold. Changes nothing.\n"
         "\n"
         "  -b, --bundle FILE  also a tar of this page, its findings and the configuration, for\n"
         "                     who helps; lines that may tell a secret are left out\n"
         "  -c, --config FILE  the configuration, instead of $MUSTER_CONF or muster.conf\n"
         "      --here         this host alone, as a node\n"
         "  -j, --json         a JSON object for each finding, nothing else\n"
         "  -r, --root DIR     a recorded tree instead of this machine; only with --here\n"
         "  -w, --nodes NODES  these nodes, instead of those of the default partition\n"
         "  -h, --help         this text\n"
         "\n"
         "Exit status: 0 all holds or is a warning, 1 something does not, 2 usage,\n"
         "3 something could not be told.");
}

static int options_read(int argc, char **argv, struct options *options)
{
    static const struct option table[] = {
        {"bundle", required_argument, NULL, 'b'}, {"config", required_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},         {"here", no_argument, NULL, 'H'},
        {"json", no_argument, NULL, 'j'},         {"nodes", required_argument, NULL, 'w'},
        {"root", required_argument, NULL, 'r'},   {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = command_option(argc, argv, "b:c:hjr:w:", table)) != -1) {
        switch (option) {
        case 'b':
            options->bundle = optarg;
            break;
        case 'c':
            options->config = optarg;
            break;
        case 'h':
            print_help();
            return COMMAND_PASS;
        case 'H':
            options->is_here = true;
            break;
        case 'j':
            options->as_json = true;
            break;
        case 'r':
            options->root = optarg;
            break;
        case 'w':
            options->nodes = optarg;
            break;
        default:
            return command_usage_error(argv[0]);
        }
    }
    if (optind < argc)
        return command_word_error(argv[0], argv[optind]);
    if (options->root && !options->is_here)
        return command_misuse(argv[0], "--root goes with --here: a tree has no controller");
    if (options->nodes && options->is_here)
        return command_misuse(argv[0], "of --here and --nodes only one at a time");
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

static int doctor(const char *name, const struct options *options, const struct look *look)
{
    struct doctor_site site = {.root = strcmp(look->root, "/") == 0 ? "" : look->root,
                               .conf = &look->conf,
                               .inventory = look->inventory,
                               .fabric = &look->fabric};
    struct findings findings = {0};
    const char *node = command_node(NULL, look->root); /* "" of a recorded tree */
    struct error err = {""};
    int status;

    if (slurm_directory(site.root, site.slurm_directory, sizeof site.slurm_directory,
                        &site.slurm_error) != 0)
        *site.slurm_directory = '\0';
    else
        slurm_lines_read(site.root, site.slurm_directory, "slurm.conf", &site.slurm, &err);
    doctor_host(&site,
                !options->is_here ? "head"
                : *node           ? node
                                  : "here",
                !options->is_here, &findings);
    if (!options->is_here)
        doctor_cluster(&site, options->nodes, &findings);
    doctor_compare(&findings);
    status = status_of(&findings);
    for (size_t i = 0; options->as_json && i < findings.count; i++)
        doctor_give(stdout, &findings.items[i]);
    if (!options->as_json)
        doctor_print(stdout, &findings, table_has_colour(stdout));
    if (options->bundle && doctor_bundle(options->bundle, &site, &findings, &err) != 0) {
        fprintf(stderr, "%s: %s\n", name, err.text);
        status = COMMAND_UNKNOWN;
    }
    doctor_clear(&findings);
    slurm_lines_clear(&site.slurm);
    return status;
}

int command_doctor(int argc, char **argv)
{
    static struct look look;
    struct options options = {0};
    int status = options_read(argc, argv, &options);

    if (status >= 0)
        return status;
    status = command_look_open(argv[0], options.root, options.config, &look);
    if (status == COMMAND_PASS)
        status = doctor(argv[0], &options, &look);
    command_look_close(&look);
    return status;
}
