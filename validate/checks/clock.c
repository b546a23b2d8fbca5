/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/checks.h"

#include <math.h>
#include <sys/timex.h>

/* host.clock: the kernel's own state of its clock. muster certify measures whether the clocks of
 * the nodes agree. */
void check_clock(const struct checks *checks)
{
    struct timex timex = {.modes = 0};
    double offset_ms;

    if (checks_skip_recorded(checks))
        return;
    if (adjtimex(&timex) < 0) {
        checks_record(checks, "", VERDICT_SKIP, "cannot read the clock's state: adjtimex: %m");
        return;
    }
    if (timex.status & STA_UNSYNC) {
        checks_record(checks, "", VERDICT_SKIP,
                      "no time service synchronizes this clock (adjtimex: unsynchronized)");
        return;
    }
    offset_ms = (double)timex.offset / (timex.status & STA_NANO ? 1e6 : 1e3);
    checks_report(checks,
                  RECORD(.metric = "clock_offset", .value = offset_ms, .unit = "ms",
                         .limit = checks->conf->clock_offset_ms, .limit_source = "conf",
                         .verdict = fabs(offset_ms) > checks->conf->clock_offset_ms ? VERDICT_WARN
                                                                                    : VERDICT_PASS),
                  "the clock differs from its time service by %.3g ms", offset_ms);
}
