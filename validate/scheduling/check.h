/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SCHEDULING_CHECK_H
#define MUSTER_SCHEDULING_CHECK_H

#include "lib/base/text.h"
#include "lib/catalog/verdict.h"
#include "validate/scheduling/kinds.h"
#include "validate/scheduling/site.h"

/* Finds mistakes in a cluster's scheduling by its configuration alone. Pure. One mistake is one
 * finding: a limit that all users of an account inherit is a finding about the account. */

enum policy_kind {
#define KIND(id, ...) POLICY_##id,
    POLICY_KIND_LIST(KIND)
#undef KIND
        POLICY_KINDS,
};

struct policy_kind_row {
    const char *code;     /* "typed-gres-hole" */
    enum verdict verdict; /* FAIL: a setting does not or cannot take effect; else WARN */
    const char *what, *why, *source, *cure;
};

extern const struct policy_kind_row policy_kinds[POLICY_KINDS];

struct policy_finding {
    enum policy_kind kind;
    enum verdict verdict; /* the kind's, or a milder one if the site has another guard */
    char object[160];     /* "QOS urgent", "partition gpu", "slurm.conf" */
    char where[320]; /* "/etc/slurm/slurm.conf:41"; "": in the database, or no such file here */
    char found[400];
};

struct policy_findings {
    const struct site *site;
    struct policy_finding *items;
    size_t count;
    bool is_out_of_memory;
};

/* Finds all mistakes, in the order of the kinds. Returns 0, or -1 if memory is out. Release with
 * policy_findings_clear(). */
int policy_check(const struct site *site, struct policy_findings *findings);
void policy_findings_clear(struct policy_findings *findings);

/* For the parts of policy_check(): adds a finding. Its line of slurm.conf is the last one that sets
 * key, or the one of the partition if object begins with "partition". */
void policy_add(struct policy_findings *findings, enum policy_kind kind, const char *key,
                const char *object, const char *format, ...) __attribute__((format(printf, 5, 6)));
bool policy_has(const struct policy_findings *findings, enum policy_kind kind);

/* Returns "account physics", "user alice of physics", "QOS urgent". */
struct text_line policy_object(enum cluster_text what, const struct site_record *record);

/* Returns whether AccountingStorageEnforce includes `what`, by itself or by another value. */
bool policy_enforces(const struct site *site, const char *what);
/* Returns whether the association has the value of the account above it, as Slurm passes limits
 * down. */
bool policy_is_inherited(const struct site *site, const struct site_record *association,
                         const char *key);
/* Returns whether the partition admits the QOS or account `name`, by its lists allow and deny. */
bool policy_lets_in(const struct site_record *partition, const char *allow, const char *deny,
                    const char *name);
/* Writes the partition's value as slurm.conf, if it is here, sets it, else as scontrol shows it:
 * scontrol shows one of two lists that exclude each other, and no DefaultTime above MaxTime. "" if
 * there is none. */
void policy_partition_value(const struct site *site, const struct site_record *partition,
                            const char *key, char *value, size_t size);
/* Returns whether the flags of the QOS let its jobs go over limits of partitions. */
bool policy_overrides_partitions(const struct site_record *qos);
/* Whether jobs can be submitted to the partition: State=UP. */
bool policy_is_up(const struct site_record *partition);

/* The parts of policy_check(). */
void policy_check_limits(struct policy_findings *findings);
void policy_check_accounts(struct policy_findings *findings);
void policy_check_priority(struct policy_findings *findings);
void policy_check_preemption(struct policy_findings *findings);
void policy_check_partitions(struct policy_findings *findings);
void policy_check_scheduler(struct policy_findings *findings);
void policy_check_reservations(struct policy_findings *findings);

#endif
