/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_POLICY_H
#define MUSTER_COMMAND_POLICY_H

#include "validate/command/command.h"
#include "validate/scheduling/check.h"

struct policy_options {
    const char *config, *from, *save, *nodes;
    const char *file;       /* of verify; NULL: policy.conf beside muster.conf */
    const char *day, *copy; /* of simulate */
    int speed;
    bool as_json, is_kinds, is_dry_run, is_verify, is_simulate;
};

/* Reads the cluster's configuration from Slurm or from a saved copy. Returns 0, with the reason in
 * accounting if expected QOS and associations are missing; or -1 with err. Clear site in any case.
 */
int policy_load(const struct policy_options *options, struct site *site, struct error *err,
                struct error *accounting);

/* Whether slurm.conf on this host is the one that slurmctld has read, by scontrol. */
bool policy_is_current(const struct site *site);

/* A finding, or another result. */
struct policy_line {
    const struct policy_kind_row *kind; /* NULL: no finding */
    enum verdict verdict;
    const char *object, *where, *stated, *found; /* where, stated: may be NULL */
};

/* Prints the line, as a JSON object or as text. */
void policy_print(const struct policy_line *line, bool as_json);

/* muster policy verify and simulate. Returns the exit status. */
int policy_verify(const char *name, const struct policy_options *options);

#endif
