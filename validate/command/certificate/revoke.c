/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "lib/slurm/own_name.h"
#include "lib/certificate/certificate.h"
#include "lib/conf/conf.h"
#include "validate/command/command.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
    const char *name, *config, *file, *node, *nodes;
    bool as_json;
};

static void print_help(void)
{
    puts("Usage: muster revoke [OPTION...]\n"
         "Removes the certificate of this node: the next job finds it missing. Needs root.\n"
         "\n"
         "  -c, --config FILE  the configuration, instead of $MUSTER_CONF or muster.conf\n"
         "  -f, --file FILE    the certificate, instead of the configuration's CertificateFile\n"
         "  -j, --json         one JSON record instead of a line\n"
         "  -n, --node NAME    Slurm's name of this node, for what is printed\n"
         "  -w, --nodes LIST   the certificates of these nodes instead, by a small job on each\n"
         "  -h, --help         this text\n"
         "\n"
         "Exit status: 0 there is none any more, 1 it is still there, 2 usage, 3 Slurm could not "
         "be\n"
         "asked, or interrupted.");
}

/* This node's certificate; other nodes run the same. */
static int revoke_here(const struct options *options, const char *path)
{
    struct error err = {""};
    struct record record = RECORD_INIT;
    char host[256], message[600];
    const char *node = options->node;
    int result = certificate_remove(path, &err);

    if (!node || !node[0]) {
        own_name("", host, sizeof host);
        node = host;
    }
    if (result < 0)
        snprintf(message, sizeof message, "certificate not revoked: %s", err.text);
    else
        snprintf(message, sizeof message, "%s %s",
                 result == 0 ? "certificate revoked:" : "there was no certificate at", path);
    if (options->as_json) {
        record.suite = record.test = "certificate";
        record.metric = "revoked";
        record.node = node;
        record.value = result == 0;
        record.unit = "count";
        record.verdict = result < 0 ? VERDICT_FAIL : VERDICT_NONE;
        record.message = message;
        record_write(stdout, &record);
    } else if (result >= 0) {
        printf("%s: %s\n", node, message);
    }
    if (result < 0)
        fprintf(stderr, "%s: %s: %s\n", options->name, node, message);
    return result < 0 ? COMMAND_FAIL : COMMAND_PASS;
}

int command_revoke(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"config", required_argument, NULL, 'c'},
        {"file", required_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},
        {"json", no_argument, NULL, 'j'},
        {"node", required_argument, NULL, 'n'},
        {"nodes", required_argument, NULL, 'w'},
        {NULL, 0, NULL, 0},
    };
    struct options options = {.name = argv[0]};
    struct conf conf;
    int option, status;

    while ((option = command_option(argc, argv, "c:f:hjn:w:", long_options)) != -1) {
        switch (option) {
        case 'c':
            options.config = optarg;
            break;
        case 'f':
            options.file = optarg;
            break;
        case 'h':
            print_help();
            return COMMAND_PASS;
        case 'j':
            options.as_json = true;
            break;
        case 'n':
            options.node = optarg;
            break;
        case 'w':
            options.nodes = optarg;
            break;
        default:
            return command_usage_error(argv[0]);
        }
    }
    if (optind < argc)
        return command_word_error(argv[0], argv[optind]);
    if (options.nodes && (options.config || options.file || options.node))
        return command_misuse(argv[0], "-w goes with -j only: each node has its own configuration");
    if (options.nodes && geteuid() != 0)
        return command_misuse(argv[0], "revoking the certificates of nodes needs root");
    if (options.nodes)
        return revoke_nodes(argv[0], options.nodes, options.as_json);
    status = command_conf(argv[0], options.config, &conf);
    if (status == COMMAND_PASS)
        status = revoke_here(&options, options.file ? options.file : conf.certificate_path);
    conf_clear(&conf);
    return status;
}
