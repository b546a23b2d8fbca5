/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/command.h"

#include <unistd.h>

#include "validate/certify/campaign.h"
#include "validate/certify/certify.h"
#include "validate/certify/options.h"
#include "validate/report/recordfile.h"

/* Returns 0, or -1 after printing the error if records were lost. */
static int json_close(struct certify *certify)
{
    struct error err;
    int rv = recordfile_close(certify->options.json_path, certify->json, &err);

    certify->json = NULL;
    if (rv != 0)
        fprintf(stderr, "muster certify: %s\n", err.text);
    return rv;
}

int command_certify(int argc, char **argv)
{
    struct certify certify = {.operations = &operations_slurm,
                              .live_directory = geteuid() == 0 ? LIVE_DIRECTORY : NULL,
                              .undo = {.journal = -1, .keeper_pipe = -1}};
    struct hostlist names;
    struct error err;
    int status = certify_options_read(argc, argv, &certify.options);

    if (status >= 0)
        return status;
    if (certify.options.nodes) {
        if (hostlist_expand(certify.options.nodes, &names, &err) != 0)
            return command_misuse("muster certify", "%s", err.text);
        status = names.count == 0 ? command_misuse("muster certify", "-w names no node: '%s'",
                                                   certify.options.nodes)
                                  : -1;
        hostlist_clear(&names);
        if (status >= 0)
            return status;
    }
    if (certify.options.is_campaign) {
        certify.options.campaign_nodes = certify.options.nodes;
        certify.options.nodes = NULL;
    }
    if (geteuid() != 0 && !certify.options.is_dry_run)
        return command_misuse("muster certify",
                              "draining and certifying need root; --dry-run does not");
    status = command_conf("muster certify", certify.options.config_path, &certify.conf);
    if (status == COMMAND_PASS)
        status = certify.options.is_campaign ? certify_campaign(&certify) : certify_run(&certify);
    if (json_close(&certify) != 0 && status == COMMAND_PASS)
        status = COMMAND_UNKNOWN;
    certify_clear(&certify);
    return status;
}
