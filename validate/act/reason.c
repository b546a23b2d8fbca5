/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/act/reason.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"

/* Reasons that Slurm sets by itself when it takes a node away (22.05 to 26.05: slurmctld's
 * node_mgr.c, ping_nodes.c, job_mgr.c, slurmd's req.c), and the part of the node that each accuses.
 * A reason that is not here was written by a person or by a site's health check. */
static const struct {
    const char *begin, *part;
} slurm_reasons[] = {
    {"Not responding", "slurmd"},
    {"gres/", "gres"},
    {"Node unexpectedly rebooted", "node"},
    {"Kill task failed", "node"},
    {"Prolog error", "prolog"},
    {"Epilog error", "epilog"},
    {"batch job complete failure", "slurmd"},
    {"Duplicate jobid", "slurmd"},
    {"Low RealMemory", "memory"},
    {"Low CPUs", "cpu"},
    {"Low socket", "cpu"},
    {"Low TmpDisk", "disk"},
    {"Low Cores", "cpu"},
    {"Invalid registration", "slurmd"},
    {"ResumeTimeout reached", "node"},
    {"reboot timed out", "node"},
    {"Reboot timeout", "node"},
    {"Slurmd start time", "slurmd"},
};

const char *reason_slurm_part(const char *reason)
{
    for (size_t i = 0; i < sizeof slurm_reasons / sizeof *slurm_reasons; i++)
        if (strncasecmp(reason, slurm_reasons[i].begin, strlen(slurm_reasons[i].begin)) == 0)
            return slurm_reasons[i].part;
    return NULL;
}

bool reason_is_ours(const char *reason)
{
    return strncmp(reason, REASON_PREFIX, strlen(REASON_PREFIX)) == 0;
}

void reason_write(const struct reason_fault *faults, size_t count, time_t now, char *reason,
                  size_t size)
{
    char date[16], text[1024] = "";
    size_t used = 0;
    struct tm day;

    gmtime_r(&now, &day);
    strftime(date, sizeof date, "%Y-%m-%d", &day);
    for (size_t i = 0; i < count && used < sizeof text; i++) {
        const struct reason_fault *fault = &faults[i];
        bool is_named =
            !*fault->part || strncmp(fault->message, fault->part, strlen(fault->part)) == 0;

        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s%s%s", i > 0 ? "; " : "",
                                 fault->test, is_named ? "" : fault->part, is_named ? "" : " ",
                                 fault->message);
    }
    text_put(reason, size - strlen(date) - 1, REASON_PREFIX " %s", text);
    for (char *c = reason; *c; c++)
        if (*c == '\n' || *c == '\'' || *c == '"')
            *c = ' ';
    snprintf(reason + strlen(reason), size - strlen(reason), " %s", date);
}

/* The next word that is not a figure or a date, NULL at the end. */
static const char *next_word(const char **text, size_t *length)
{
    const char *word;

    do {
        word = *text + strspn(*text, " ");
        *length = strcspn(word, " ");
        *text = word + *length;
    } while (*length > 0 && isdigit((unsigned char)*word));
    return *length > 0 ? word : NULL;
}

bool reason_is_same(const char *then, const char *now)
{
    const char *a, *b;
    size_t a_length, b_length;

    do {
        a = next_word(&then, &a_length);
        b = next_word(&now, &b_length);
    } while (a && b && a_length == b_length && strncmp(a, b, a_length) == 0);
    return !a && !b;
}
