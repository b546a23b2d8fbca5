/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/certificate/certificate.h"
#include "lib/conf/conf.h"
#include "validate/command/command.h"

#include <string.h>
#include <unistd.h>

struct options {
    const char *config, *file, *node, *nodes;
    long until; /* 0: not given */
    bool as_json;
};

static const struct option_row rows[] = {
    COMMAND_CONFIG(struct options),
    OPTION('f', "file", "FILE", "certificate file, instead of CertificateFile of muster.conf", TEXT,
           OPTION_FIELD(struct options, file)),
    OPTION('\0', "issued-until", "SECONDS",
           "keep a certificate that was issued later, in seconds since 1970", LONG,
           OPTION_FIELD(struct options, until), OPTION_RANGE(1, 253402300799)),
    COMMAND_JSON(struct options),
    COMMAND_NODE(struct options),
    OPTION('w', "nodes", "LIST", "revoke the certificates of these nodes with a small job on them",
           TEXT, OPTION_FIELD(struct options, nodes)),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster revoke",
    .summary = "Removes the certificate of this node; the next job finds it missing. Needs root.",
    .status =
        "0 no certificate left, or a later one kept, 1 still present, 2 usage, 3 no answer from "
        "Slurm, or interrupted.",
    .rows = rows,
};

/* Revokes this node's certificate; revoke_nodes() runs the same on other nodes. */
static int revoke_here(const struct options *options, const char *path)
{
    struct error err = {""};
    const char *node = command_node(options->node, "");
    char message[600];
    int result = certificate_remove(path, options->until, &err);
    bool is_kept = result == 2;

    if (result < 0)
        snprintf(message, sizeof message, "certificate not revoked: %s", err.text);
    else
        snprintf(message, sizeof message, "%s %s",
                 is_kept       ? "certificate kept, it was issued later or by a newer muster:"
                 : result == 0 ? "certificate revoked:"
                               : "no certificate found at",
                 path);
    if (options->as_json)
        record_put(stdout,
                   RECORD(.suite = "certificate", .test = "certificate", .metric = "revoked",
                          .node = node, .value = result == 0, .unit = "count",
                          .verdict = result < 0 ? VERDICT_FAIL
                                     : is_kept  ? VERDICT_SKIP
                                                : VERDICT_NONE),
                   "%s", message);
    else if (result >= 0)
        printf("%s: %s\n", node, message);
    return result < 0 ? command_failed(COMMAND_FAIL, set.name, "%s: %s", node, message)
                      : COMMAND_PASS;
}

int command_revoke(int argc, char **argv)
{
    struct options options = {0};
    struct conf conf;
    int status = command_options(&set, argc, argv, &options), result;

    if (status >= 0)
        return status;
    if (options.nodes && (options.config || options.file || options.node || options.until))
        return command_misuse(argv[0], "only --json can be combined with -w: each node has its own "
                                       "configuration");
    if (options.nodes && geteuid() != 0)
        return command_misuse(argv[0], "revoking the certificates of nodes needs root");
    status = command_conf(argv[0], options.config, &conf);
    if (options.nodes) {
        result = revoke_nodes(argv[0], options.nodes, options.as_json,
                              status == COMMAND_PASS ? conf.history_path : NULL);
        status = result != COMMAND_PASS ? result : status;
    } else if (status == COMMAND_PASS) {
        status = revoke_here(&options, options.file ? options.file : conf.certificate_path);
    }
    conf_clear(&conf);
    return status;
}
