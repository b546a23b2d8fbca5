/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/show.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/text.h"
#include "lib/constants/slurm_constants.h"
#include "validate/slurm/step/process.h"

static const struct {
    const char *name;
    const char *words[7]; /* end with NULL */
} commands[CLUSTER_TEXTS] = {
    [CLUSTER_CONFIG] = {"config", {"scontrol", "show", "config"}},
    [CLUSTER_PARTITIONS] = {"partitions", {"scontrol", "-a", "-o", "show", "partition"}},
    [CLUSTER_NODES] = {"nodes", {"scontrol", "-a", "-o", "show", "node"}},
    [CLUSTER_RESERVATIONS] = {"reservations", {"scontrol", "-o", "show", "reservation"}},
    [CLUSTER_QOS] = {"qos", {"sacctmgr", "-P", "show", "qos", "format=" CLUSTER_QOS_COLUMNS}},
    [CLUSTER_ASSOCIATIONS] = {"associations",
                              {"sacctmgr", "-P", "show", "assoc",
                               "format=" CLUSTER_ASSOCIATION_COLUMNS}},
};

const char *cluster_text_name(enum cluster_text what)
{
    return commands[what].name;
}

int cluster_show(enum cluster_text what, const char *cluster, char **text, struct error *err)
{
    const char *words[8] = {NULL};
    char *word = NULL;
    size_t count = 0;
    int rv;

    *text = NULL;
    while (commands[what].words[count]) {
        words[count] = commands[what].words[count];
        count++;
    }
    if (what == CLUSTER_ASSOCIATIONS && asprintf(&word, "cluster=%s", cluster) < 0)
        return error_set(err, "no memory");
    words[count] = word;
    rv = process_output(words, SHOW_S, text, err);
    free(word);
    return rv;
}

int cluster_show_job(uint32_t id, char **text, struct error *err)
{
    return process_output((const char *const[]){"scontrol", "-o", "show", "job",
                                                id ? text_line("%u", id).text : NULL, NULL},
                          SHOW_S, text, err);
}

int cluster_show_priority(uint32_t id, char **text, struct error *err)
{
    return process_output((const char *const[]){"sprio", "-h", "-o", CLUSTER_PRIORITY_FORMAT, "-j",
                                                text_line("%u", id).text, NULL},
                          SHOW_S, text, err);
}

int cluster_show_script(uint32_t id, char **text, struct error *err)
{
    return process_output((const char *const[]){"scontrol", "write", "batch_script",
                                                text_line("%u", id).text, "-", NULL},
                          SHOW_S, text, err);
}
