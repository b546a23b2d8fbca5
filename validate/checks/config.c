/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/facts.h"

#include <math.h>
#include <stdio.h>

#include "lib/base/sysfs.h"
#include "lib/base/text.h"

void fact_record(const struct checks *checks, const char *metric, const char *part, double value,
                 const char *unit, const char *format, ...)
{
    char text[1024];

    TEXT_FORMAT(text, sizeof text, format);
    if (text[0])
        checks_report(checks,
                      RECORD(.metric = metric, .part = part, .value = value,
                             .unit = isnan(value) ? NULL : unit),
                      "%s", text);
}

void fact_text(const struct checks *checks, const char *metric, const char *part, const char *text)
{
    fact_record(checks, metric, part, NAN, NULL, "%s", text);
}

void fact_number(const struct checks *checks, const char *metric, const char *part,
                 long long number, const char *unit)
{
    if (number >= 0)
        fact_record(checks, metric, part, (double)number, unit, "%lld", number);
}

void fact_line(const struct checks *checks, const char *metric, const char *part, const char *path)
{
    char text[512];

    if (sysfs_line(checks->root, text, sizeof text, "%s", path) == 0)
        fact_text(checks, metric, part, text);
}

void check_config(const struct checks *checks)
{
    facts_host(checks);
    facts_rails(checks);
    facts_gpus(checks);
    facts_accelerators(checks);
    facts_software(checks);
}
