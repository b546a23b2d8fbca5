/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CATALOG_H
#define MUSTER_CATALOG_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/catalog/fault_table.h"
#include "lib/catalog/metric_table.h"
#include "lib/catalog/test_table.h"
#include "lib/catalog/verdict.h"

/* Every fault code, test and metric of muster, once. Programs decide by what stands here, never by
 * the text of a message. muster-codes(7) and the tables of doc/records.md are held against it. No
 * I/O; all strings are static. */

/* What can be wrong. A name is never given another meaning; one that is no longer used stays out of
 * the table. */
enum fault_code {
    FAULT_NONE,
#define FAULT(id, name, severity, drain, remediation, advice, meaning) FAULT_##id,
    FAULT_TABLE
#undef FAULT
        FAULT_COUNT,
    FAULT_UNLISTED = FAULT_COUNT /* of a newer muster: struct record has its name. Drains nobody */
};

/* Who takes a node out of service for a fault, when its verdict is fail; each includes those above
 * it (decision_drains()). */
enum fault_drain {
    DRAIN_NEVER,   /* nobody: it is no node's, or not sure, or harmless */
    DRAIN_CERTIFY, /* muster certify, which has seen it twice or from several sides */
    DRAIN_HEALTH,  /* the node's own health check as well: a part is missing or dead */
};

/* What is to be done first: one word for programs. */
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
    enum verdict severity;  /* of a record with this code, where nothing speaks for less */
    enum fault_drain drain; /* never above DRAIN_NEVER unless the severity is fail */
    enum remediation remediation;
    const char *advice;  /* what to do: one sentence for a person */
    const char *meaning; /* what was found: one line */
};

/* Never NULL: of FAULT_NONE, and of what is no code, one of empty texts. */
const struct catalog_fault *catalog_fault(enum fault_code code);

/* The code of that name; FAULT_NONE when there is none, as in records of a newer muster. */
enum fault_code catalog_fault_parse(const char *name);

/* Whether by that fault a process of an MPI program did not run to its end, or did not take part:
 * it died, hung, fell silent, or its node does not answer. */
bool catalog_is_of_process(enum fault_code code);

/* "replace_cable", ...; "" for REMEDY_NONE. Never NULL. */
const char *catalog_remediation(enum remediation remediation);

struct catalog_test {
    const char *name;     /* "net.interfaces" */
    enum fault_code code; /* of a failure or warning of the test that has no code of its own */
    const char *help;     /* what is verified: one line */
};

enum test_id {
#define TEST(id, name, code, help) TEST_##id,
    TEST_TABLE
#undef TEST
        CATALOG_TESTS
};

extern const struct catalog_test catalog_tests[CATALOG_TESTS];

/* NULL: there is no such test. */
const struct catalog_test *catalog_test(const char *name);

/* The code of a record of that test and verdict that came without one: that of the test, or for
 * what could not be told FAULT_NOT_MEASURED; FAULT_NONE where nothing is wrong. */
enum fault_code catalog_default_code(const char *test, enum verdict verdict);

struct catalog_metric {
    const char *name;          /* "bandwidth"; together with unit it is unique */
    const char *unit;          /* "Mb/s"; "" for a metric whose value is a text */
    enum fault_code deviation; /* of a fact of host.config: what it is that a node has another value
                                  than its peers; else FAULT_NONE */
    const char *help;          /* what is measured: one line */
    const char *why;           /* of such a fact: why a deviation matters; else NULL */
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

/* The fact of host.config of that name; NULL: there is none. */
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

/* Whether a record's suite, test, metric or limit_source is that one, by its name; NULL is none. Of
 * metrics of one name in several units each is all of them. Nothing else compares such a string
 * with a name. */
bool catalog_is_suite(const char *name, enum suite_id suite);
bool catalog_is_test(const char *name, enum test_id test);
bool catalog_is_metric(const char *name, enum metric_id metric);
bool catalog_is_limit(const char *name, enum limit_id limit);

#endif
