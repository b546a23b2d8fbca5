/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/certificate/refused.h"
#include "validate/checks/checks.h"

/* slurm.gate: Slurm reports "Prolog error" whatever failed in the prolog. This check reports if it
 * was muster's gate. */
void check_gate(const struct checks *checks)
{
    char line[400];
    time_t when;

    if (checks_skip_recorded(checks))
        return;
    if (refused_read(checks->conf->certificate_path, &when, line, sizeof line) != 0) {
        checks_record(checks, "", VERDICT_PASS, "no job was refused since the last certificate");
        return;
    }
    checks_report(
        checks,
        RECORD(.metric = "refused", .value = (double)when, .unit = "s", .verdict = VERDICT_WARN),
        "the gate refused a job: %s", line);
}
