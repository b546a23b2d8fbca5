/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/run/run.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "validate/command/command.h"
#include "validate/run/keeper.h"

static const struct option_row rows[] = {
    OPTION('c', "config", "FILE", "configuration, instead of $MUSTER_CONF or muster.conf", TEXT,
           OPTION_FIELD(struct run_options, config_path)),
    OPTION('j', "json", "FILE", "write a JSON line for each event; - is standard output", TEXT,
           OPTION_FIELD(struct run_options, json_path)),
    OPTION('H', "hang", "SECONDS", "restart the command after it hangs for this time", SECONDS,
           OPTION_FIELD(struct run_options, hang_s), OPTION_RANGE(10, 86400)),
    OPTION('\0', "keeper", "NODE",
           "requeue the job if NODE, that of its script, fails; run by muster run", TEXT,
           OPTION_FIELD(struct run_options, keeper)),
    OPTION('r', "max-restarts", "K", "maximum number of restarts", LONG,
           OPTION_FIELD(struct run_options, max_restarts), OPTION_RANGE(0, 1000), .initial = "3"),
    OPTION('p', "preflight", "LEVEL", "test the nodes before the first start", CHOICE,
           OPTION_FIELD(struct run_options, level), .choices = "off|quick|standard",
           .initial = "quick"),
    OPTION('s', "spares", "N", "number of the job's nodes to keep as spares", LONG,
           OPTION_FIELD(struct run_options, spares), OPTION_RANGE(0, HOSTLIST_MAX), .initial = "0"),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster run",
    .usage = "muster run [OPTION...] -- COMMAND [ARGUMENT...]",
    .summary = "Inside a job: runs COMMAND, srun or another launcher, on the job's nodes without "
               "the spares. If it fails or hangs, a preflight looks for the node at fault. COMMAND "
               "is restarted with a spare instead of that node; without a spare the job is "
               "requeued and excludes it. If no node is at fault, COMMAND is restarted once. Runs "
               "as the job's user; submit the job with --no-kill and --requeue.",
    .status = "0 COMMAND succeeded; before its start 1 too few good nodes, 2 usage, 3 no answer "
              "from Slurm; 126 or 127 COMMAND could not be started; otherwise its last exit "
              "status, or 128 + N if ended by signal N.",
    .rows = rows,
    .words = INT_MAX / 2,
};

int command_run(int argc, char **argv)
{
    struct run_options options = {0};
    struct conf conf;
    int status = command_options(&set, argc, argv, &options);

    if (status >= 0)
        return status;
    options.command = argv + optind;
    if (options.keeper)
        return keeper_run(set.name, options.keeper, *options.command);
    status = command_conf(set.name, options.config_path, &conf);
    options.budget_s = conf.preflight_budget_s;
    if (status == COMMAND_PASS && !*options.command)
        status = command_misuse(set.name, "no command given");
    if (status == COMMAND_PASS)
        status = run_job(set.name, &options);
    conf_clear(&conf);
    return status;
}
