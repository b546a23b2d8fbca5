/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VERIFY_KINDS_H
#define MUSTER_VERIFY_KINDS_H

#include "lib/constants/policy_constants.h"
#include "validate/scheduling/check.h"
#include "validate/scheduling/verify/intent.h"
#include "validate/scheduling/verify/seen.h"

/* Kinds of statements of policy.conf, a row each: the keys, what is tried, what is concluded. A new
 * kind is a file and a row of verify_kinds. */

/* CODE(ID, code, what, why, source, cure): a statement that does not hold. */
#define VERIFY_CODE_LIST(CODE)                                                                     \
    CODE(LIMIT_PASSED, "limit-passed", "a user has more than was stated",                          \
         "what one user gets beyond the limit, others lack",                                       \
         "resource_limits.html, Hierarchy and Specific limits over GRES",                          \
         "set the limit of the association or QOS, with limits and qos in "                        \
         "AccountingStorageEnforce; muster policy check names limits that do not hold")            \
    CODE(LIMIT_BELOW, "limit-below", "a user has less than was stated",                            \
         "of several limits the smallest counts that is met first: partition QOS, job QOS, "       \
         "association",                                                                            \
         "resource_limits.html, Hierarchy",                                                        \
         "raise the limit that Slurm's reason names, or lower the statement")                      \
    CODE(ORDER_REVERSED, "order-reversed", "a job does not go before the other",                   \
         "the weighted factors are added up: a large one overturns the others",                    \
         "priority_multifactor.html, Job Priority Factors In General",                             \
         "change the weights or values of the factors that are named")                             \
    CODE(NOT_PREEMPTED, "not-preempted", "a job does not take the place of the other in time",     \
         "the job waits until the other one ends by itself", "preempt.html",                       \
         "see that PreemptType, PreemptMode and the Preempt list or PriorityTier allow it, and "   \
         "that GraceTime and PreemptExemptTime are short enough")                                  \
    CODE(PREEMPT_MODE, "preempt-mode-differs", "a preempted job does not end as was stated",       \
         "a job that is canceled instead of requeued is lost", "preempt.html, PreemptMode",        \
         "set PreemptMode of the cluster, the partition or the QOS, and JobRequeue")               \
    CODE(RESERVATION_CLOSED, "reservation-closed", "who was stated may not use the reservation",   \
         "the nodes are kept for others", "reservations.html",                                     \
         "scontrol update reservation=NAME users=LIST or accounts=LIST")                           \
    CODE(RESERVATION_OPEN, "reservation-open", "others may use the reservation",                   \
         "the nodes are not there for those that they are kept for", "reservations.html",          \
         "scontrol update reservation=NAME users=LIST or accounts=LIST")                           \
    CODE(WAIT_TOO_LONG, "wait-too-long", "a job waits longer than was stated",                     \
         "a dedicated customer is to be served in that time, whatever the load",                   \
         "preempt.html; sched_config.html",                                                        \
         "let it preempt the load, reserve nodes for it, or limit the time of the load's jobs")    \
    CODE(NOT_CERTIFIED, "uncertified-node-open",                                                   \
         "a job would start on a node without certificate",                                        \
         "a node that was not tested may fail or slow down the job", "muster-reserve(1)",          \
         "muster reserve puts nodes without a certificate where no job of a user starts")

enum verify_code {
#define CODE(id, ...) VERIFY_##id,
    VERIFY_CODE_LIST(CODE)
#undef CODE
        VERIFY_CODES,
};
extern const struct policy_kind_row verify_codes[VERIFY_CODES];

/* The nodes that may be used, and what each has at least. */
struct verify_capacity {
    long nodes;
    long cpus;
    char gres[256]; /* of the first, as scontrol shows it */
};

/* What a probe needs. */
struct verify_plan {
    long nodes;             /* to be reserved for it; below 0: no node has what it needs */
    double most_s;          /* the longest time that it takes */
    struct text_line doing; /* what is tried, for --dry-run */
};

struct verify_result {
    enum verdict verdict; /* PASS, FAIL with code, UNKNOWN */
    enum verify_code code;
    char found[480];
};

struct verify_run;

struct verify_kind {
    const char *keyword;
    const struct intent_key *keys; /* ends with one without a name */
    struct verify_plan (*plan)(const struct intent_statement *statement,
                               const struct verify_capacity *capacity);
    /* Tries the statement; if it could not be tried, seen->not_shown says why. */
    void (*probe)(struct verify_run *run, const struct intent_statement *statement,
                  struct verify_seen *seen);
    /* Pure. Only called if all jobs were submitted, and were accepted, limited or denied. */
    struct verify_result (*judge)(const struct intent_statement *statement,
                                  const struct verify_seen *seen);
};

extern const struct verify_kind *const verify_kinds[]; /* ends with NULL */
extern const struct verify_kind verify_limit, verify_priority, verify_preempt, verify_dedicated,
    verify_reserved, verify_certified;

/* Returns "Who=, Limit=, ...". */
struct text_line verify_keywords(void);

/* Judges the statement by its kind; UNKNOWN if it could not be shown. Pure. */
struct verify_result verify_judge(const struct intent_statement *statement,
                                  const struct verify_seen *seen);

/* For judges: return the result with its text. */
struct verify_result verify_conclude(enum verdict verdict, enum verify_code code,
                                     const char *format, ...) __attribute__((format(printf, 3, 4)));
#define verify_pass(...) verify_conclude(VERDICT_PASS, 0, __VA_ARGS__)
#define verify_fail(...) verify_conclude(VERDICT_FAIL, __VA_ARGS__)
#define verify_not_shown(...) verify_conclude(VERDICT_UNKNOWN, 0, __VA_ARGS__)

#endif
