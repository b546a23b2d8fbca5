/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/reason.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"

/* Reasons that Slurm sets by itself when it takes a node away (22.05 to 26.05: slurmctld's
 * node_mgr.c, ping_nodes.c, job_mgr.c, slurmd's req.c), and the part of the node that each blames.
 * A reason that is not here was written by a person or by a site's health check. */
static const struct {
    const char *begin, *part;
} slurm_reasons[] = {
    {"Not responding", "slurmd"},
    {"gres/", "gres"},
    {"Node unexpectedly rebooted", "node"},
    {"Kill task failed", "slurmd"},
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

/* Returns the message without the part that it begins with. */
static const char *message_without_part(const char *message, const char *part)
{
    size_t length = strlen(part);

    if (length == 0 || strncmp(message, part, length) != 0 || !strchr(": ", message[length]))
        return message;
    message += length;
    return message + strspn(message, ": ");
}

void reason_write(const struct reason_fault *faults, size_t count, time_t now, char *reason,
                  size_t size)
{
    char date[16], text[1024] = "";
    size_t used = 0;

    text_time(date, sizeof date, "%Y-%m-%d", now);
    for (size_t i = 0; i < count && used < sizeof text; i++) {
        const struct reason_fault *fault = &faults[i];
        char part[64], message[512];

        snprintf(part, sizeof part, "%s", *fault->part ? fault->part : "-");
        for (char *c = part; (c = strchr(c, ' ')) != NULL;)
            *c = '+';
        snprintf(message, sizeof message, "%s", message_without_part(fault->message, fault->part));
        for (char *c = message; (c = strchr(c, ';')) != NULL;)
            *c = ',';
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s %s", i > 0 ? "; " : "",
                                 catalog_fault(fault->code)->name, part, message);
    }
    text_put(reason, size - strlen(date) - 1, REASON_PREFIX " %s", text);
    for (char *c = reason; *c; c++)
        if (*c == '\n' || *c == '\'' || *c == '"')
            *c = ' ';
    snprintf(reason + strlen(reason), size - strlen(reason), " %s", date);
}

/* Returns whether the reason was truncated in these words. */
static bool is_cut(const char *words, size_t length)
{
    static const char cut[] = "...";

    return length >= sizeof cut - 1 &&
           strncmp(words + length - (sizeof cut - 1), cut, sizeof cut - 1) == 0;
}

/* Reads the next fault's code and part, its first two words. Returns their length; 0 at the end, or
 * where the reason was truncated. *text moves to the next fault. */
static size_t fault_next(const char **text, const char **words)
{
    size_t length;

    *words = *text + strspn(*text, " ");
    length = strcspn(*words, " ;");
    if (!is_cut(*words, length) && (*words)[length] == ' ')
        length += 1 + strcspn(*words + length + 1, " ;");
    *text = *words + strcspn(*words, ";");
    *text += **text == ';';
    return is_cut(*words, length) ? 0 : length;
}

bool reason_is_same(const char *then, const char *now)
{
    size_t prefix = strlen(REASON_PREFIX), length, other;
    const char *words, *others;

    if (!reason_is_ours(then) || !reason_is_ours(now))
        return false;
    then += prefix;
    now += prefix;
    for (int faults = 0;; faults++) {
        length = fault_next(&then, &words);
        other = fault_next(&now, &others);
        if (length == 0 || other == 0)
            return faults > 0 && length == other;
        if (length != other || strncmp(words, others, length) != 0)
            return false;
    }
}

bool reason_has(const char *reason, const char *faults)
{
    size_t prefix = strlen(REASON_PREFIX), length, other;
    const char *words, *others;

    if (!reason_is_ours(reason) || !reason_is_ours(faults))
        return false;
    faults += prefix;
    for (int count = 0;; count++) {
        const char *rest = reason + prefix;

        length = fault_next(&faults, &words);
        if (length == 0)
            return count > 0;
        do
            other = fault_next(&rest, &others);
        while (other > 0 && (other != length || strncmp(words, others, length) != 0));
        if (other == 0)
            return false;
    }
}

bool reason_is_refusal(const char *reason)
{
    char refusal[64];

    snprintf(refusal, sizeof refusal, REASON_PREFIX " %s -",
             catalog_fault(FAULT_GATE_REFUSED)->name);
    return reason_is_same(reason, refusal);
}
