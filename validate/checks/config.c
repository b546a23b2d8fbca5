/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/facts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "lib/base/sysfs.h"

void fact_record(const struct facts *facts, const char *metric, const char *part, double value,
                 const char *unit, const char *format, ...)
{
    struct record record;
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!text[0])
        return;
    record = RECORD(.metric = metric, .part = part, .value = value,
                    .unit = isnan(value) ? NULL : unit, .verdict = VERDICT_NONE, .message = text);
    checks_report(facts->checks, facts->test, &record);
}

void fact_text(const struct facts *facts, const char *metric, const char *part, const char *text)
{
    fact_record(facts, metric, part, NAN, NULL, "%s", text);
}

void fact_number(const struct facts *facts, const char *metric, const char *part, long long number,
                 const char *unit)
{
    if (number >= 0)
        fact_record(facts, metric, part, (double)number, unit, "%lld", number);
}

void fact_line(const struct facts *facts, const char *metric, const char *part, const char *path)
{
    char text[512];

    if (sysfs_line(facts->checks->root, text, sizeof text, "%s", path) == 0)
        fact_text(facts, metric, part, text);
}

void check_config(const struct checks *checks, const char *test)
{
    const struct facts facts = {checks, test};

    facts_host(&facts);
    facts_rails(&facts);
    facts_gpus(&facts);
    facts_accelerators(&facts);
    facts_software(&facts);
}
