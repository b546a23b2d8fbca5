/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/signals.h"
#include "validate/act/plan.h"
#include "validate/command/command.h"
#include "validate/report/records.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/extra.h"
#include "validate/slurm/step.h"

enum { WAIT_S = 10, DEADLINE_S = 30, GRACE_S = 3 };

static volatile sig_atomic_t interrupted; /* the signal */

static void interrupt(int signal_number)
{
    interrupted = signal_number;
}

static void hear(const char *line, bool is_error, void *context)
{
    if (!is_error)
        records_parse(context, line);
}

/* What the node says became of its certificate. Returns 0 when there is none any more, else -1 with
 * err. */
static int revoke_on(const char *node, const char *partition, struct records *records,
                     struct error *err)
{
    struct arguments program = {0};
    char *name = strdup(node);
    struct process_result result;
    size_t first = records->count;
    int rv;

    if (!name)
        return error_set(err, "no memory for a step on %s", node);
    step_muster(&program, "revoke", "--json", NULL);
    rv = step_run_on(&(struct hostlist){&name, 1}, partition, WAIT_S, program.argv,
                     &(struct process){.deadline_s = DEADLINE_S,
                                       .grace_s = GRACE_S,
                                       .on_line = hear,
                                       .context = records,
                                       .stop = &interrupted},
                     &result, err);
    arguments_clear(&program);
    free(name);
    if (rv != 0)
        return -1;
    if (records->count > first && !records->items[first].message)
        return error_set(err, "its answer is not understood");
    if (records->count > first && result.end == PROCESS_EXITED && result.status == 0)
        return 0;
    if (records->count > first)
        return error_set(err, "%s", records->items[first].message);
    if (result.end == PROCESS_STOPPED)
        return error_set(err, "interrupted; its certificate may still be there");
    return error_set(err, "%s; run muster revoke on the node itself",
                     *result.complaint.text ? result.complaint.text : "it did not answer in time");
}

/* Nobody who asks for certified nodes is to get this one. Best effort: the gate knows anyway. */
static void take_out_extra(const char *command, const struct cluster *cluster, const char *name)
{
    const struct cluster_node *node = cluster_node(cluster, name);
    struct error err = {""};
    char *text =
        node && cluster->has_extra && *node->extra ? extra_with(node->extra, 0, 0, &err) : NULL;

    if (text && strcmp(text, node->extra) != 0 && cluster_set_extra(name, text, &err) != 0)
        fprintf(stderr, "%s: %s\n", command, err.text);
    free(text);
}

static int revoke_node(const struct cluster *cluster, const char *name, struct records *records,
                       struct error *err)
{
    const struct cluster_node *node = cluster_node(cluster, name);
    const struct cluster_partition *partition = plan_partition(cluster, NULL, &name, 1);

    if (node->is_down || node->is_drained || node->is_absent || node->is_invalid)
        return error_set(err, "it is %s and runs no job; run muster revoke on the node itself",
                         node->state);
    if (!partition)
        return error_set(err, "it is in no partition that is up; run muster revoke on the node "
                              "itself");
    return revoke_on(name, partition->name, records, err);
}

int revoke_nodes(const char *command, const char *list, bool as_json)
{
    struct hostlist names;
    struct cluster cluster;
    struct error err;
    int status = COMMAND_PASS;

    if (hostlist_expand(list, &names, &err) == 0 && names.count == 0)
        error_set(&err, "-w names no node: '%s'", list);
    if (names.count == 0) {
        fprintf(stderr, "%s: %s\n", command, err.text);
        return COMMAND_USAGE;
    }
    step_clean_environment();
    signals_catch(interrupt, 0); /* a step on its way is ended by srun itself */
    if (cluster_open(&err) != 0 || cluster_load(&cluster, &err) != 0) {
        fprintf(stderr, "%s: %s\n", command, err.text);
        hostlist_clear(&names);
        return COMMAND_UNKNOWN;
    }
    if (cluster_unknown_node(&cluster, &names, &err)) {
        fprintf(stderr, "%s: %s\n", command, err.text);
        status = COMMAND_USAGE;
    }
    for (size_t i = 0; i < names.count && status != COMMAND_USAGE && !interrupted; i++) {
        struct records records = {0};

        if (revoke_node(&cluster, names.names[i], &records, &err) != 0) {
            fprintf(stderr, "%s: %s: %s\n", command, names.names[i], err.text);
            status = COMMAND_FAIL;
        } else if (as_json) {
            record_write(stdout, &records.items[0]);
        } else {
            printf("%s: %s\n", names.names[i], records.items[0].message);
        }
        take_out_extra(command, &cluster, names.names[i]);
        records_clear(&records);
        if (interrupted && i + 1 < names.count)
            fprintf(stderr, "%s: interrupted: %s and those behind it were not asked\n", command,
                    names.names[i + 1]);
    }
    if (interrupted)
        status = COMMAND_UNKNOWN;
    cluster_clear(&cluster);
    hostlist_clear(&names);
    return status;
}
