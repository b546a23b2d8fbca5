/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/suspects/suspect_reports.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "validate/checks/checks.h"

void check_suspect_reports(const struct checks *checks)
{
    struct suspect_reports_overflow overflow;
    struct suspect_report *reports = NULL;
    struct error err = {""};
    char directory[4096], text[512];
    int count, reported = 0;

    suspect_reports_directory(checks->root, directory, sizeof directory);
    if (!checks->root[0] && geteuid() != 0) {
        checks_record(checks, "", VERDICT_SKIP, "only root can read suspect reports");
        return;
    }
    count = suspect_reports_read(directory, &reports, &overflow, &err);
    if (count < 0) {
        checks_record(checks, "", VERDICT_UNKNOWN, "%s", err.text);
        return;
    }
    for (int i = 0; i < count; i++) {
        if (strcmp(reports[i].node, checks->node) != 0)
            continue;
        suspect_report_describe(&reports[i], text, sizeof text);
        checks_record(checks, reports[i].part, VERDICT_WARN, "%s", text);
        reported++;
    }
    if (reported == 0)
        checks_record(checks, "", VERDICT_PASS, "no suspect report about this node");
    free(reports);
}
