/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/step/error_line.h"

#include <string.h>

#include "lib/base/text.h"

/* Messages about consequences: srun and slurmstepd print them when they end the other tasks. */
static const char *const effects[] = {
    ": Killed",
    ": Terminated",
    ": Exited with exit code",
    ": Aborted",
    ": Segmentation fault",
    "Job step aborted",
    "Terminating StepId",
    "Terminating job step",
    "CANCELLED AT",
    "First task exited",
    "step creation temporarily disabled",
    "srun: got SIG",
    "srun: forcing job termination",
    "srun: interrupt",
    "MPI_ABORT was invoked", /* after a timeout for another rank */
    "mpi/pmix",              /* waits for dead ranks */
};

/* A line that names a cause is worth more than any other. */
static const char *const causes[] = {"muster", "slurmstepd: error: ", "srun: error: "};

static int weight_of(const char *line)
{
    size_t blanks = strspn(line, " \t-*=");

    /* what Slurm makes of an abort by PMIx without a message */
    if (!line[blanks] || strcmp(line + blanks, "(null)") == 0)
        return 0;
    for (size_t i = 0; i < sizeof effects / sizeof *effects; i++)
        if (strstr(line, effects[i]))
            return 1;
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (strncmp(line, causes[i], strlen(causes[i])) == 0)
            return 3;
    return 2;
}

void error_line_add(struct error_line *kept, const char *line)
{
    int weight = weight_of(line);

    if (weight <= kept->weight)
        return;
    kept->weight = weight;
    kept->is_refusal = strncmp(line, "srun: ", 6) == 0 && !strstr(line, ": task ");
    text_put(kept->text, sizeof kept->text, "%s", line);
}

const char *error_line_text(const struct error_line *kept)
{
    return *kept->text ? kept->text : "no error message was given";
}
