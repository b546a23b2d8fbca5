/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CATALOG_H
#define MUSTER_CATALOG_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/catalog/fault_table.h"
#include "lib/catalog/metric_table.h"
#include "lib/catalog/test_table.h"
#include "lib/catalog/verdict.h"

/* All fault codes, tests and metrics of muster. Programs decide by these, never by the text of a
 * message. Tests compare muster-codes(7) and the tables of doc/records.md with it. No I/O; all
 * strings are static. */

/* The fault codes. A name never gets another meaning; a name that is no longer used is removed from
 * the table and not used again. */
enum fault_code {
    FAULT_NONE,
#define FAULT(id, name, severity, drain, remediation, advice, meaning) FAULT_##id,
    FAULT_TABLE
#undef FAULT
        FAULT_COUNT,
    FAULT_UNLISTED = FAULT_COUNT /* from a newer muster: struct record has its name. Never drains */
};

/* Which programs drain a node for a fault with the verdict fail; each value includes the one above
 * it (decision_drains()). */
enum fault_drain {
    DRAIN_NEVER,   /* none: the fault is not the node's, not certain, or harmless */
    DRAIN_CERTIFY, /* muster certify, which has seen it twice or from several sides */
    DRAIN_HEALTH,  /* also the node's own health check: a part is missing or dead */
};

/* The first thing to do: one word for programs. */
enum remediation {
    REMEDY_NONE,
    REMEDY_MEASURE_AGAIN,
    REMEDY_FIX_CONFIG,
    REMEDY_UPDATE_SOFTWARE,
    REMEDY_RESTART_SERVICE,
    REMEDY_CHECK_LOG,
    REMEDY_CHECK_SWITCH,
    REMEDY_REPLACE_CABLE,
    REMEDY_RESEAT,
    REMEDY_RESET_GPU,
    REMEDY_REBOOT,
    REMEDY_CALL_VENDOR,
    REMEDY_COUNT
};

struct catalog_fault {
    const char *name;       /* "link_down": lower case, digits and _ */
    enum verdict severity;  /* the verdict of a record with this code; a record may have a lesser */
    enum fault_drain drain; /* above DRAIN_NEVER only if the severity is fail */
    enum remediation remediation;
    const char *advice;  /* what to do: one sentence for a person */
    const char *meaning; /* what was found: one line */
};

/* Returns the fault of a code. Never NULL: for FAULT_NONE and invalid codes its texts are "". */
const struct catalog_fault *catalog_fault(enum fault_code code);

/* Returns the code with this name; FAULT_NONE if there is none, as in records of a newer muster. */
enum fault_code catalog_fault_parse(const char *name);

/* Returns whether the fault means that a process of an MPI program did not run to its end or did
 * not take part: it died, hung or was too slow, or its node does not answer. */
bool catalog_is_of_process(enum fault_code code);

/* Returns the name: "replace_cable", ...; "" for REMEDY_NONE. Never NULL. */
const char *catalog_remediation(enum remediation remediation);

struct catalog_test {
    const char *name;     /* "net.interfaces" */
    enum fault_code code; /* default code of the test's records with the verdict fail or warn */
    const char *help;     /* what the test verifies: one line */
};

enum test_id {
#define TEST(id, name, code, help) TEST_##id,
    TEST_TABLE
#undef TEST
        CATALOG_TESTS
};

extern const struct catalog_test catalog_tests[CATALOG_TESTS];

/* Returns the test with this name, or NULL. */
const struct catalog_test *catalog_test(const char *name);

/* Returns the code of a record with this test and verdict and without its own code: the test's code
 * for warn and fail (FAULT_TEST_FAILED if it has none), FAULT_NOT_MEASURED for unknown unless the
 * test's code is for that, else FAULT_NONE. */
enum fault_code catalog_default_code(const char *test, enum verdict verdict);

struct catalog_metric {
    const char *name;          /* "bandwidth"; name and unit together are unique */
    const char *unit;          /* "Mb/s"; "" for a metric whose value is a text */
    enum fault_code deviation; /* for a fact of host.config: the fault of a node whose value differs
                                  from its peers'; else FAULT_NONE */
    const char *help;          /* what is measured: one line */
    const char *why;           /* for such a fact: why a deviation matters; else NULL */
};

enum metric_id {
#define FACT(id, name, unit, code, help, why) METRIC_##id,
#define METRIC(id, name, unit, help) METRIC_##id,
    METRIC_TABLE
#undef METRIC
#undef FACT
        CATALOG_METRICS
};

extern const struct catalog_metric catalog_metrics[CATALOG_METRICS];

/* Returns the fact of host.config with this name, or NULL. */
const struct catalog_metric *catalog_fact(const char *name);

enum suite_id {
#define SUITE(id, name) SUITE_##id,
    SUITE_TABLE
#undef SUITE
};

enum limit_id {
#define LIMIT(id, name) LIMIT_##id,
    LIMIT_TABLE
#undef LIMIT
};

/* Return whether a record's suite, test, metric or limit_source (may be NULL) has this name.
 * Metrics with the same name and different units count as the same. Other code must not compare
 * such a string with a name. */
bool catalog_is_suite(const char *name, enum suite_id suite);
bool catalog_is_test(const char *name, enum test_id test);
bool catalog_is_metric(const char *name, enum metric_id metric);
bool catalog_is_limit(const char *name, enum limit_id limit);

#endif
