/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/health/residue.h"

#include <stdio.h>

#include "lib/base/text.h"
#include "validate/checks/checks.h"

/* host.residue: leftovers of ended jobs. They are a warning only: the owner may still need them,
 * and the next job can mostly run beside them. */

static void report_processes(const struct checks *checks, const struct residue *residue)
{
    char names[RESIDUE_NAMES * (sizeof residue->names[0] + 2)] = "", stuck[64] = "";
    size_t named = residue->processes < RESIDUE_NAMES ? residue->processes : RESIDUE_NAMES;

    for (size_t i = 0; i < named; i++)
        text_join(names, sizeof names, ", ", "%s", residue->names[i]);
    if (residue->stuck > 0)
        snprintf(stuck, sizeof stuck, "; %zu cannot be killed", residue->stuck);
    checks_fault(checks, "processes", FAULT_JOB_RESIDUE,
                 "%zu process%s of users without a job on this node: %s%s%s", residue->processes,
                 residue->processes == 1 ? "" : "es", names,
                 residue->processes > named ? ", ..." : "", stuck);
}

void check_residue(const struct checks *checks)
{
    struct residue residue;

    if (residue_read(checks->root, &residue) < 0) {
        checks_record(checks, "", VERDICT_UNKNOWN, "cannot read the processes of %s", checks->node);
        return;
    }
    if (residue.processes > 0)
        report_processes(checks, &residue);
    if (residue.files + residue.segments > 0)
        checks_fault(checks, "shared_memory", FAULT_JOB_RESIDUE,
                     "%.4g MB of shared memory of users without a job on this node: %zu file%s in "
                     "/dev/shm, %zu System V segment%s",
                     residue.bytes / 1e6, residue.files, text_plural(residue.files),
                     residue.segments, text_plural(residue.segments));
    if (residue.processes + residue.files + residue.segments == 0)
        checks_record(checks, "", VERDICT_PASS, "no leftovers of ended jobs");
}
