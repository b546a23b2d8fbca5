/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_POLICY_H
#define MUSTER_COMMAND_POLICY_H

#include <jansson.h>

#include "validate/command/command.h"
#include "validate/scheduling/check.h"

struct policy_options {
    const char *config, *from, *save, *nodes;
    const char *file;       /* of verify; NULL: policy.conf beside muster.conf */
    const char *day, *copy; /* of simulate */
    int speed;
    bool as_json, is_kinds, is_dry_run, is_verify, is_simulate;
    int argc; /* of main() */
    char **argv;
};

/* Reads the cluster's configuration from Slurm or what was saved of it. Returns 0, with accounting
 * telling why QOS and associations are not there, if they should be; or -1 with err. site is to be
 * cleared in any case. */
int policy_load(const struct policy_options *options, struct site *site, struct error *err,
                struct error *accounting);

/* Whether slurm.conf on this host is what slurmctld has read, by scontrol. */
bool policy_is_current(const struct site *site);

/* A finding, or what else was concluded. */
struct policy_line {
    const struct policy_kind_row *kind; /* NULL: no finding */
    enum verdict verdict;
    const char *object, *where, *stated, *found; /* where, stated: NULL where there is none */
};

/* Prints it, as a JSON object or for a person. */
void policy_print(const struct policy_line *line, bool as_json);

/* Prints the object as a line, and releases it. */
void policy_print_json(json_t *object);

/* muster policy verify and simulate. Returns the exit status. */
int policy_verify(const char *name, const struct policy_options *options);

#endif
