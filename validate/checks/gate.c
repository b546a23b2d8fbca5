/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/certificate/refused.h"
#include "validate/checks/checks.h"

/* Slurm says "Prolog error" whoever failed it: where it was muster's gate, this says so. */
void check_gate(const struct checks *checks, const char *test)
{
    struct record record;
    char line[400], message[512];
    time_t when;

    if (checks->root[0]) {
        checks_record(checks, test, "", VERDICT_SKIP, "not available on a recorded node");
        return;
    }
    if (refused_read(checks->conf->certificate_path, &when, line, sizeof line) != 0) {
        checks_record(checks, test, "", VERDICT_PASS,
                      "no job was refused since the last certificate");
        return;
    }
    snprintf(message, sizeof message, "the gate refused a job: %s", line);
    record = RECORD(.metric = "refused", .value = (double)when, .unit = "s",
                    .verdict = VERDICT_WARN, .message = message);
    checks_report(checks, test, &record);
}
