/* SPDX-License-Identifier: Apache-2.0 */
#include <time.h>
#include <unistd.h>

#include "lib/base/text.h"
#include "lib/certificate/certificate.h"
#include "validate/checks/checks.h"
#include "validate/health/evidence.h"

/* host.evidence: the evidence bundles that health checks have stored since the last certificate. */

static void report_bundle(const struct evidence *evidence, void *context)
{
    char when[32];

    text_time(when, sizeof when, "%Y-%m-%d %H:%M", (time_t)evidence->time_s);
    checks_fault(context, evidence->part, FAULT_EVIDENCE_KEPT, "evidence of %s, %s UTC: %.300s",
                 catalog_fault(evidence->code)->name, when, evidence->path);
}

void check_evidence(const struct checks *checks)
{
    const char *certificate = checks->conf->certificate_path;
    char directory[EVIDENCE_PATH];

    if (checks->root[0] || geteuid() != 0) {
        checks_record(checks, "", VERDICT_SKIP, "%s",
                      checks->root[0] ? "a recorded tree has no evidence"
                                      : "only root may read the node's evidence");
        return;
    }
    if (evidence_directory(certificate, directory) != 0 ||
        evidence_each(directory, certificate_issued(certificate, NULL), report_bundle,
                      (void *)checks) == 0)
        checks_record(checks, "", VERDICT_PASS, "no evidence of faults");
}
