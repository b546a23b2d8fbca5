/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/catalog/catalog.h"

#include <string.h>

static const struct catalog_fault faults[FAULT_COUNT] = {
    [FAULT_NONE] = {"", VERDICT_NONE, DRAIN_NEVER, REMEDY_NONE, "", ""},
#define FAULT(id, name, severity, drain, remediation, advice, meaning)                             \
    [FAULT_##id] = {name, VERDICT_##severity, DRAIN_##drain, REMEDY_##remediation, advice, meaning},
    FAULT_TABLE
#undef FAULT
};

static const char *const remediations[REMEDY_COUNT] = {
    [REMEDY_NONE] = "",
    [REMEDY_MEASURE_AGAIN] = "measure_again",
    [REMEDY_FIX_CONFIG] = "fix_config",
    [REMEDY_UPDATE_SOFTWARE] = "update_software",
    [REMEDY_RESTART_SERVICE] = "restart_service",
    [REMEDY_CHECK_LOG] = "check_log",
    [REMEDY_CHECK_SWITCH] = "check_switch",
    [REMEDY_REPLACE_CABLE] = "replace_cable",
    [REMEDY_RESEAT] = "reseat",
    [REMEDY_RESET_GPU] = "reset_gpu",
    [REMEDY_REBOOT] = "reboot",
    [REMEDY_CALL_VENDOR] = "call_vendor",
};

const struct catalog_fault *catalog_fault(enum fault_code code)
{
    return &faults[(unsigned)code < FAULT_COUNT ? code : FAULT_NONE];
}

enum fault_code catalog_fault_parse(const char *name)
{
    for (int code = FAULT_NONE + 1; code < FAULT_COUNT; code++)
        if (strcmp(name, faults[code].name) == 0)
            return (enum fault_code)code;
    return FAULT_NONE;
}

bool catalog_is_of_process(enum fault_code code)
{
    switch (code) {
    case FAULT_NODE_UNREACHABLE:
    case FAULT_NODE_FROZEN:
    case FAULT_RANKS_MISSING:
    case FAULT_PROCESS_DIED:
    case FAULT_PROCESS_HUNG:
    case FAULT_PROCESS_SLOW:
    case FAULT_PROCESS_FAULT:
        return true;
    default:
        return false;
    }
}

const char *catalog_remediation(enum remediation remediation)
{
    return remediations[(unsigned)remediation < REMEDY_COUNT ? remediation : REMEDY_NONE];
}

const struct catalog_test catalog_tests[CATALOG_TESTS] = {
#define TEST(id, name, code, help) [TEST_##id] = {name, FAULT_##code, help},
    TEST_TABLE
#undef TEST
};

const struct catalog_test *catalog_test(const char *name)
{
    for (size_t i = 0; i < CATALOG_TESTS; i++)
        if (strcmp(catalog_tests[i].name, name) == 0)
            return &catalog_tests[i];
    return NULL;
}

enum fault_code catalog_default_code(const char *test, enum verdict verdict)
{
    const struct catalog_test *found = test ? catalog_test(test) : NULL;

    if (verdict == VERDICT_UNKNOWN)
        return found && catalog_fault(found->code)->severity == VERDICT_UNKNOWN
                   ? found->code
                   : FAULT_NOT_MEASURED;
    if (verdict != VERDICT_WARN && verdict != VERDICT_FAIL)
        return FAULT_NONE;
    return found && found->code != FAULT_NONE ? found->code : FAULT_TEST_FAILED;
}

const struct catalog_metric *catalog_fact(const char *name)
{
    for (size_t i = 0; i < CATALOG_METRICS; i++)
        if (catalog_metrics[i].deviation != FAULT_NONE &&
            strcmp(catalog_metrics[i].name, name) == 0)
            return &catalog_metrics[i];
    return NULL;
}

const struct catalog_metric catalog_metrics[CATALOG_METRICS] = {
#define FACT(id, name, unit, code, help, why) [METRIC_##id] = {name, unit, FAULT_##code, help, why},
#define METRIC(id, name, unit, help) [METRIC_##id] = {name, unit, FAULT_NONE, help, NULL},
    METRIC_TABLE
#undef METRIC
#undef FACT
};

bool catalog_is_suite(const char *name, enum suite_id suite)
{
    static const char *const names[] = {
#define SUITE(id, name) [SUITE_##id] = name,
        SUITE_TABLE
#undef SUITE
    };

    return name && strcmp(name, names[suite]) == 0;
}

bool catalog_is_test(const char *name, enum test_id test)
{
    return name && strcmp(name, catalog_tests[test].name) == 0;
}

bool catalog_is_metric(const char *name, enum metric_id metric)
{
    return name && strcmp(name, catalog_metrics[metric].name) == 0;
}

bool catalog_is_limit(const char *name, enum limit_id limit)
{
    static const char *const names[] = {
#define LIMIT(id, name) [LIMIT_##id] = name,
        LIMIT_TABLE
#undef LIMIT
    };

    return name && strcmp(name, names[limit]) == 0;
}
