/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_OUTCOME_H
#define MUSTER_CERTIFY_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/record.h"

/* One node's way through the stages, which are columns of the report. A stage may be skipped: gpu
 * where there is no accelerator, host and train at level quick, the certificate in a dry run. */
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

/* What a stage found of one part. */
struct outcome_fault {
    enum stage stage;
    enum verdict verdict; /* WARN and worse */
    enum fault_code code;
    bool is_near;   /* FAIL, by a figure near its limit (validate/policy/strikes.h) */
    bool is_common; /* many nodes have it alike: none is failed for it (validate/policy/alike.h) */
    char test[64], part[64], message[256];
};

struct outcome {
    enum verdict stages[STAGE_COUNT];            /* VERDICT_NONE: not run */
    char cells[STAGE_COUNT][24];                 /* what the table shows; "" : the verdict's name */
    enum verdict verdict;                        /* worst so far */
    bool is_near;                                /* FAIL, by figures near their limits only */
    struct outcome_fault faults[OUTCOME_FAULTS]; /* the worst first, then in their order; one of
                                                    a code, test and part; of those that have no
                                                    room, doubled codes are left out first */
    size_t fault_count;
};

/* Notes a verdict of a stage. pass also where nothing is said. code: FAULT_NONE: that of the test
 * (record_code()). */
void outcome_note(struct outcome *outcome, enum stage stage, enum verdict verdict,
                  enum fault_code code, const char *test, const char *part, const char *message);

/* Notes a failure by a figure near its limit. Any other failure outweighs it. */
void outcome_note_near(struct outcome *outcome, enum stage stage, enum fault_code code,
                       const char *test, const char *part, const char *message);

/* Makes that failure one that many nodes have alike: UNKNOWN. */
void outcome_excuse(struct outcome *outcome, size_t fault);

/* The worst fault; one of empty texts where there is none. */
const struct outcome_fault *outcome_worst(const struct outcome *outcome);

/* The worst fault that the node is to be drained for (decision_drains()), a hard one before one
 * near its limit; NULL: there is none. */
const struct outcome_fault *outcome_ground(const struct outcome *outcome);

/* All faults that are as bad as the worst, "eth1 98 of 940 Mb/s; gpu3: ...", each with its part,
 * but for the part of the first where is_first_bare. "" where there is none. */
void outcome_text(const struct outcome *outcome, bool is_first_bare, char *text, size_t size);

/* Whether the node is still without a fault and may take part in the next stage. */
bool outcome_is_good(const struct outcome *outcome);

/* The verdict of what was tested so far, whether a certificate is written or not: PASS when each
 * stage was passed (a warning does not forbid it), FAIL when one failed, else UNKNOWN. */
enum verdict outcome_tested(const struct outcome *outcome);

/* The verdict of the node as a whole: as outcome_tested(), and PASS (certified) only with its
 * certificate; where it is UNKNOWN there is a fault then. */
enum verdict outcome_conclude(struct outcome *outcome);

/* The exit status: 0 all certified, 1 something failed, 3 something could not be told. is_fault: a
 * fault that is no node's, a slow uplink. No node at all: 3. */
int outcome_exit_status(const enum verdict *verdicts, size_t count, bool is_fault);

#endif
