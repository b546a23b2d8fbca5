/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/run/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory_stream.h"

int layout_choose(const struct hostlist *nodes, const struct hostlist *keep,
                  const struct hostlist *excluded, size_t wanted, struct hostlist *chosen)
{
    bool *is_chosen = calloc(nodes->count + 1, sizeof *is_chosen);
    size_t count = 0;
    int rv = is_chosen ? 0 : -1;

    *chosen = (struct hostlist){0};
    for (int pass = 0; is_chosen && pass < 2; pass++)
        for (size_t i = 0; i < nodes->count && count < wanted; i++)
            if (!is_chosen[i] && !hostlist_contains(excluded, nodes->names[i]) &&
                (pass == 1 || hostlist_contains(keep, nodes->names[i]))) {
                is_chosen[i] = true;
                count++;
            }
    for (size_t i = 0; rv == 0 && i < nodes->count; i++)
        if (is_chosen[i])
            rv = hostlist_append(chosen, nodes->names[i]);
    free(is_chosen);
    return rv;
}

/* ---------------------------------------------------------------- what launchers read */

/* Parses "2(x3),1" as 2 2 2 1. Returns whether the text has that form, for count nodes. */
static bool counts_parse(const char *text, long *counts, size_t count)
{
    size_t filled = 0;

    while (*text) {
        char *end;
        long value = strtol(text, &end, 10), times = 1;

        if (end == text)
            return false;
        text = end;
        if (strncmp(text, "(x", 2) == 0) {
            times = strtol(text + 2, &end, 10);
            if (*end != ')')
                return false;
            text = end + 1;
        }
        for (; times > 0 && filled < count; times--)
            counts[filled++] = value;
        if (times > 0 || (*text && *text != ','))
            return false;
        text += *text == ',';
    }
    return filled == count;
}

/* Adds the variable with the values of the chosen nodes, written as Slurm does. */
static void counts_add(struct arguments *variables, const char *name, const struct hostlist *all,
                       const struct hostlist *chosen)
{
    const char *text = getenv(name);
    long *counts = calloc(all->count + 1, sizeof *counts);
    char *chosen_text = NULL;
    size_t size = 0, same = 0;
    FILE *stream = memory_stream(&chosen_text, &size);
    long last = 0;

    if (counts && stream && text && counts_parse(text, counts, all->count))
        for (size_t i = 0; i <= all->count; i++) {
            if (i < all->count && !hostlist_contains(chosen, all->names[i]))
                continue;
            if (same > 0 && (i == all->count || counts[i] != last)) {
                fprintf(stream, "%s%ld", ftell(stream) > 0 ? "," : "", last);
                if (same > 1)
                    fprintf(stream, "(x%zu)", same);
                same = 0;
            }
            last = i < all->count ? counts[i] : 0;
            same++;
        }
    if (stream)
        fclose(stream);
    if (!counts || !chosen_text)
        variables->out_of_memory = true;
    else if (*chosen_text)
        arguments_add(variables, "%s=%s", name, chosen_text);
    free(chosen_text);
    free(counts);
}

/* Adds the variable, a number for all nodes as "8" or "a100:8", with the chosen nodes' share. */
static void share_add(struct arguments *variables, const char *name, const struct hostlist *all,
                      const struct hostlist *chosen)
{
    const char *text = getenv(name), *colon = text ? strrchr(text, ':') : NULL;
    const char *number = colon ? colon + 1 : text;
    char *end = NULL;
    long count = number ? strtol(number, &end, 10) : 0;

    if (count > 0 && !*end && !strchr(text, ','))
        arguments_add(variables, "%s=%.*s%ld", name, (int)(number - text), text,
                      count * (long)chosen->count / (long)all->count);
}

int layout_environment(const struct hostlist *all, const struct hostlist *chosen,
                       struct arguments *variables, struct error *err)
{
    static const char *const lists[] = {"SLURM_JOB_NODELIST", "SLURM_NODELIST"};
    static const char *const sizes[] = {"SLURM_JOB_NUM_NODES", "SLURM_NNODES"};
    static const char *const shares[] = {"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_GPUS"};
    static const char *const counts[] = {"SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE"};
    char *folded;

    if (chosen->count == all->count)
        return 0;
    folded = hostlist_fold_for_slurm(chosen);
    variables->out_of_memory |= !folded;
    for (int i = 0; folded && i < 2; i++) {
        if (getenv(lists[i]))
            arguments_add(variables, "%s=%s", lists[i], folded);
        if (getenv(sizes[i]))
            arguments_add(variables, "%s=%zu", sizes[i], chosen->count);
        counts_add(variables, counts[i], all, chosen);
    }
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        share_add(variables, shares[i], all, chosen);
    free(folded);
    return variables->out_of_memory ? error_set(err, "no memory") : 0;
}

int layout_command(char *const *command, const struct hostlist *nodes,
                   const struct hostlist *chosen, struct arguments *arguments, struct error *err)
{
    const char *slash = strrchr(command[0], '/');
    struct hostlist others = {0};
    char *folded = NULL;

    for (size_t i = 0; i < nodes->count; i++)
        if (!hostlist_contains(chosen, nodes->names[i]) &&
            hostlist_append(&others, nodes->names[i]) != 0)
            arguments->out_of_memory = true;
    arguments_add(arguments, "%s", command[0]);
    if (others.count > 0 && strcmp(slash ? slash + 1 : command[0], "srun") == 0) {
        folded = hostlist_fold_for_slurm(&others);
        if (folded)
            arguments_add(arguments, "--exclude=%s", folded);
        else
            arguments->out_of_memory = true;
    }
    for (size_t i = 1; command[i]; i++)
        arguments_add(arguments, "%s", command[i]);
    free(folded);
    hostlist_clear(&others);
    return arguments->out_of_memory ? error_set(err, "no memory") : 0;
}
