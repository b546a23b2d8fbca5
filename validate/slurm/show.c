/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/show.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/constants/slurm_constants.h"
#include "validate/slurm/process.h"

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

static void keep_line(const char *line, bool is_error, void *context)
{
    if (!is_error)
        fprintf(context, "%s\n", line);
}

/* Runs the command, whose words end with NULL, with one more (NULL: none). As cluster_show(). */
static int show(const char *const *words, const char *more, char **text, struct error *err)
{
    struct arguments arguments = {0};
    struct process_result result = {0};
    FILE *stream;
    size_t size;
    int rv = -1;

    *text = NULL;
    stream = open_memstream(text, &size);
    if (!stream)
        return error_set(err, "no memory");
    for (; *words; words++)
        arguments_add(&arguments, "%s", *words);
    if (more)
        arguments_add(&arguments, "%s", more);
    if (arguments.out_of_memory)
        error_set(err, "no memory");
    else
        rv = process_run(&(struct process){.argv = arguments.argv,
                                           .environment = process_to_read,
                                           .deadline_s = SHOW_S,
                                           .grace_s = 1,
                                           .on_line = keep_line,
                                           .context = stream},
                         &result, err);
    if (fclose(stream) != 0 && rv == 0)
        rv = error_set(err, "no memory");
    if (rv == 0 && (result.end != PROCESS_EXITED || result.status != 0))
        rv = error_set(err, "%s: %s", arguments.argv[0],
                       *result.complaint.text            ? result.complaint.text
                       : result.end == PROCESS_TIMED_OUT ? "no answer in time"
                                                         : "no error message was given");
    if (rv != 0) {
        free(*text);
        *text = NULL;
    }
    arguments_clear(&arguments);
    return rv;
}

int cluster_show(enum cluster_text what, const char *cluster, char **text, struct error *err)
{
    char *word = NULL;
    int rv;

    *text = NULL;
    if (what == CLUSTER_ASSOCIATIONS && asprintf(&word, "cluster=%s", cluster) < 0)
        return error_set(err, "no memory");
    rv = show(commands[what].words, word, text, err);
    free(word);
    return rv;
}

int cluster_show_job(uint32_t id, char **text, struct error *err)
{
    char number[16];

    snprintf(number, sizeof number, "%u", id);
    return show((const char *const[]){"scontrol", "-o", "show", "job", NULL}, id ? number : NULL,
                text, err);
}

int cluster_show_priority(uint32_t id, char **text, struct error *err)
{
    char number[16];

    snprintf(number, sizeof number, "%u", id);
    return show((const char *const[]){"sprio", "-h", "-o", CLUSTER_PRIORITY_FORMAT, "-j", NULL},
                number, text, err);
}

int cluster_show_script(uint32_t id, char **text, struct error *err)
{
    char number[16];

    snprintf(number, sizeof number, "%u", id);
    return show((const char *const[]){"scontrol", "write", "batch_script", number, "-", NULL}, NULL,
                text, err);
}
