/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_OUTCOME_H
#define MUSTER_CERTIFY_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/record.h"

/* The results of one node in the stages, which are the columns of the report. A stage may be
 * skipped: gpu without an accelerator, host and train at level quick, the certificate in a dry run.
 */
#define STAGE_LIST(ROW)                                                                            \
    ROW(REACH, reach)                                                                              \
    ROW(CHECK, check)                                                                              \
    ROW(LAUNCH, launch)                                                                            \
    ROW(HOST, host)                                                                                \
    ROW(GPU, gpu)                                                                                  \
    ROW(LINKS, links)                                                                              \
    ROW(COLLECTIVES, collectives)                                                                  \
    ROW(TRAIN, train)                                                                              \
    ROW(CERTIFICATE, certificate)

#define STAGE_ENUM(upper, lower) STAGE_##upper,
enum stage { STAGE_LIST(STAGE_ENUM) STAGE_COUNT };
#undef STAGE_ENUM
const char *stage_name(enum stage stage);    /* "reach", "check", ... */
const char *stage_heading(enum stage stage); /* "REACH", "CHECK", ... */

enum { OUTCOME_FAULTS = 6, OUTCOME_TEXT = 400 };

/* A stage's finding about one part. */
struct outcome_fault {
    enum stage stage;
    enum verdict verdict; /* WARN and worse */
    enum fault_code code;
    bool is_near;   /* FAIL, by a figure near its limit (validate/policy/strikes.h) */
    bool is_common; /* many nodes share it: it fails none (validate/policy/alike.h) */
    char test[64], part[64], message[256];
};

struct outcome {
    enum verdict stages[STAGE_COUNT]; /* VERDICT_NONE: not run */
    char cells[STAGE_COUNT][24];      /* what the table shows; "" : the verdict's name */
    enum verdict verdict;             /* worst so far */
    bool is_near;                     /* FAIL, by figures near their limits only */
    /* worst first, equals in order of arrival; one per code, test and part; when full, a fault with
     * a repeated code is dropped first */
    struct outcome_fault faults[OUTCOME_FAULTS];
    size_t fault_count;
};

/* Notes a verdict of a stage; PASS is noted too, even without a message. code: FAULT_NONE for the
 * test's own (record_code()). */
void outcome_note(struct outcome *outcome, enum stage stage, enum verdict verdict,
                  enum fault_code code, const char *test, const char *part, const char *message);

/* Notes a failure by a figure near its limit. Any other failure outweighs it. */
void outcome_note_near(struct outcome *outcome, enum stage stage, enum fault_code code,
                       const char *test, const char *part, const char *message);

/* Excuses the failure with index `fault`, which many nodes share: its verdict becomes UNKNOWN. */
void outcome_excuse(struct outcome *outcome, size_t fault);

/* Returns the worst fault; one with empty texts and VERDICT_NONE if there is none. */
const struct outcome_fault *outcome_worst(const struct outcome *outcome);

/* Returns the worst fault that drains a node (decision_drains()), a hard one before one near its
 * limit; NULL if there is none. */
const struct outcome_fault *outcome_drain_cause(const struct outcome *outcome);

/* Writes all faults that are as bad as the worst, "eth1 98 of 940 Mb/s; gpu3: ...", each with its
 * part; is_first_bare: the first without it. "" if there is none. */
void outcome_text(const struct outcome *outcome, bool is_first_bare, char *text, size_t size);

/* Whether the node is still without a fault and may take part in the next stage. */
bool outcome_is_good(const struct outcome *outcome);

/* Returns the verdict of the tests so far, with or without a certificate: PASS if each stage was
 * passed or may be skipped (warnings are allowed), FAIL if one failed, else UNKNOWN. */
enum verdict outcome_tested(const struct outcome *outcome);

/* Returns the verdict of the node as a whole: as outcome_tested(), but PASS (certified) only with
 * its certificate. Adds a fault if a stage did not complete. */
enum verdict outcome_conclude(struct outcome *outcome);

/* Returns the exit status: 0 all certified, 1 something failed, 3 something is unknown or there is
 * no node. is_fault: there is a fault that is no node's, such as a slow uplink. */
int outcome_exit_status(const enum verdict *verdicts, size_t count, bool is_fault);

#endif
