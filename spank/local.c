/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/local.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spank/host.h"

/* Reads the command line, as SPANK has no item for --jobid. Slurm takes any unique prefix of it. */
static bool has_jobid(void)
{
    static const char option[] = "--jobi";
    FILE *stream = fopen("/proc/self/cmdline", "re");
    bool is_there = false;
    size_t size = 0;
    char *word = NULL;

    while (stream != NULL && !is_there && getdelim(&word, &size, '\0', stream) > 0)
        is_there = strncmp(word, option, strlen(option)) == 0;
    free(word);
    if (stream != NULL)
        fclose(stream);
    return is_there;
}

bool local_has_allocation(void)
{
    return getenv("SLURM_JOB_ID") != NULL || getenv("SLURM_JOBID") != NULL || has_jobid();
}

int local_check(const struct options *options)
{
    struct options filled = *options;
    struct error err;

    if (options_fill(&filled, host_lookup, environ, &err) == 0)
        return 0;
    host_error("%s", err.text);
    return -1;
}
