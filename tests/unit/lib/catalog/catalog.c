/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/catalog/catalog.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

static bool is_word(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");

    return length > 2 && text[length] == '\0' && islower((unsigned char)*text);
}

static bool is_sentence(const char *text)
{
    return strlen(text) > 10 && isupper((unsigned char)*text) && text[strlen(text) - 1] == '.';
}

static bool is_line(const char *text)
{
    return strlen(text) > 5 && !strpbrk(text, "\n") && text[strlen(text) - 1] != '.';
}

static void faults(void)
{
    bool are_good = true;

    for (int code = FAULT_NONE + 1; code < FAULT_COUNT; code++) {
        const struct catalog_fault *fault = catalog_fault((enum fault_code)code);
        bool is_good =
            is_word(fault->name) && is_line(fault->meaning) &&
            (is_sentence(fault->advice) || strncmp(fault->advice, "topology", 8) == 0) &&
            is_word(catalog_remediation(fault->remediation)) && fault->severity >= VERDICT_WARN &&
            (fault->drain == DRAIN_NEVER || fault->severity == VERDICT_FAIL) &&
            catalog_fault_parse(fault->name) == (enum fault_code)code; /* so the name is unique */

        if (!is_good)
            tap_diag("%s", fault->name);
        are_good = are_good && is_good;
    }
    ok(are_good, "each fault has a unique name, a severity, a remediation, advice and a meaning");
    is_str(catalog_fault(FAULT_NONE)->name, "", "no code has no name");
    is_str(catalog_fault((enum fault_code)9999)->advice, "",
           "a code that is out of range has no advice");
    is_int(catalog_fault_parse("never_heard_of"), FAULT_NONE,
           "an unknown code is parsed to FAULT_NONE");
    is_int(catalog_fault_parse(""), FAULT_NONE, "an empty code is parsed to FAULT_NONE");
    is_str(catalog_remediation((enum remediation)99), "", "an unknown remediation has no name");
}

static void defaults(void)
{
    bool are_good = true;

    for (size_t i = 0; i < CATALOG_TESTS; i++) {
        const struct catalog_test *test = &catalog_tests[i];

        are_good = are_good && is_line(test->help) && catalog_test(test->name) == test;
    }
    ok(are_good, "each test is in the table once, with a line of help");
    ok(!catalog_test("no.such"), "a test that does not exist is not found");
    is_int(catalog_default_code("host.munge", VERDICT_FAIL), FAULT_MUNGE_FAILED,
           "a failure has the default code of its test");
    is_int(catalog_default_code("no.such", VERDICT_FAIL), FAULT_TEST_FAILED,
           "a failure of an unknown test has the code test_failed");
    is_int(catalog_default_code(NULL, VERDICT_WARN), FAULT_TEST_FAILED,
           "... also a warning without a test");
    is_int(catalog_default_code("host.munge", VERDICT_UNKNOWN), FAULT_NOT_MEASURED,
           "the verdict unknown has the code not_measured");
    is_int(catalog_default_code("slurm.state", VERDICT_UNKNOWN), FAULT_NODE_AWAY,
           "... unless the test's own code means unknown");
    is_int(catalog_default_code("host.munge", VERDICT_PASS), FAULT_NONE, "a pass has no code");
    is_int(catalog_default_code("host.munge", VERDICT_NONE), FAULT_NONE,
           "a value without a verdict has no code");
}

/* The strings of a record are compared only with the identifiers of the catalog. */
static void names(void)
{
    ok(catalog_is_test("host.config", TEST_HOST_CONFIG) &&
           !catalog_is_test("host", TEST_HOST_CONFIG),
       "a test is recognized by its name");
    ok(catalog_is_metric("loss", METRIC_LOSS) && catalog_is_metric("loss", METRIC_LOSS_NATS),
       "a metric is recognized by its name, in each of its units");
    ok(catalog_is_suite("certify", SUITE_CERTIFY) && !catalog_is_suite("certify", SUITE_CHECK),
       "a suite is recognized by its name");
    ok(catalog_is_limit("peers", LIMIT_PEERS) && !catalog_is_limit("peers", LIMIT_HISTORY),
       "the source of a limit is recognized by its name");
    ok(!catalog_is_test(NULL, TEST_LINKS) && !catalog_is_metric(NULL, METRIC_MTU) &&
           !catalog_is_suite(NULL, SUITE_LINKS) && !catalog_is_limit(NULL, LIMIT_PEERS),
       "a NULL string matches none");
    ok(catalog_is_of_process(FAULT_PROCESS_DIED) && catalog_is_of_process(FAULT_NODE_UNREACHABLE) &&
           !catalog_is_of_process(FAULT_LAUNCH_FAILED) && !catalog_is_of_process(FAULT_RAIL_SLOW) &&
           !catalog_is_of_process(FAULT_NONE),
       "the faults of processes are recognized");
}

static const struct catalog_metric *metric_find(const char *name, const char *unit)
{
    for (size_t i = 0; i < CATALOG_METRICS; i++)
        if (strcmp(catalog_metrics[i].name, name) == 0 &&
            strcmp(catalog_metrics[i].unit, unit) == 0)
            return &catalog_metrics[i];
    return NULL;
}

static void metrics(void)
{
    bool are_good = true;

    for (size_t i = 0; i < CATALOG_METRICS; i++) {
        const struct catalog_metric *metric = &catalog_metrics[i];
        bool is_fact = metric->deviation != FAULT_NONE;

        are_good = are_good && is_line(metric->help) && is_fact == (metric->why != NULL) &&
                   metric_find(metric->name, metric->unit) == metric &&
                   (!is_fact || catalog_fact(metric->name) == metric);
        if (!are_good) {
            tap_diag("%s", metric->name);
            break;
        }
    }
    ok(are_good, "each metric and unit is in the table once, with a line of help");
    ok(!catalog_fact("bandwidth"), "a measured metric is not a fact of host.config");
}

/* The tables of doc/records.md and the catalog have the same tests and metrics. */
static void documentation_is_complete(void)
{
    char path[4096], line[1024], suite[64], test[64], metric[64], unit[64];
    bool *has_test = calloc(CATALOG_TESTS, sizeof *has_test);
    bool *has_metric = calloc(CATALOG_METRICS, sizeof *has_metric);
    const char *top = getenv("top_srcdir");
    bool is_table = false;
    int unknown = 0, missing = 0, rows = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/doc/records.md", top ? top : "../..");
    file = fopen(path, "r");
    ok(file, "%s can be read", path);
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "## ", 3) == 0)
            is_table = strncmp(line, "## Tests", 8) == 0;
        if (!is_table || sscanf(line, "| %63[^| ] | %63[^| ] | %63[^| ] | %63[^| ] |", suite, test,
                                metric, unit) != 4)
            continue;
        if (strcmp(suite, "suite") == 0 || strncmp(suite, "---", 3) == 0)
            continue;
        rows++;
        if (catalog_test(test)) {
            has_test[catalog_test(test) - catalog_tests] = true;
        } else {
            tap_diag("test %s is not in the catalog", test);
            unknown++;
        }
        if (strcmp(metric, "-") == 0)
            continue;
        if (metric_find(metric, strcmp(unit, "-") == 0 ? "" : unit)) {
            has_metric[metric_find(metric, strcmp(unit, "-") == 0 ? "" : unit) - catalog_metrics] =
                true;
        } else {
            tap_diag("metric %s in %s is not in the catalog", metric, unit);
            unknown++;
        }
    }
    if (file)
        fclose(file);
    ok(rows > 200 && unknown == 0, "each of its %d rows is in the catalog", rows);
    for (size_t i = 0; i < CATALOG_TESTS; i++)
        if (!has_test[i]) {
            tap_diag("test %s is not in doc/records.md", catalog_tests[i].name);
            missing++;
        }
    /* "hardware" is derived from other facts: no record has it */
    for (size_t i = 0; i < CATALOG_METRICS; i++)
        if (!has_metric[i] && strcmp(catalog_metrics[i].name, "hardware") != 0) {
            tap_diag("metric %s is not in doc/records.md", catalog_metrics[i].name);
            missing++;
        }
    is_int(missing, 0, "each test and metric of the catalog has a row");
    free(has_test);
    free(has_metric);
}

int main(void)
{
    faults();
    defaults();
    names();
    metrics();
    documentation_is_complete();
    return tap_done();
}
