/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HARNESS_OPTIONS_H
#define MUSTER_HARNESS_OPTIONS_H

#include <stdbool.h>

#include "lib/base/option_set.h"

/* The options common to all programs of the battery. */

/* A fault that a program injects into itself, so that each of its verdicts can be proved. */
enum inject_kind { INJECT_NONE, INJECT_LIE, INJECT_DIE, INJECT_HANG, INJECT_FREEZE };

struct inject {
    enum inject_kind kind;
    int rank;
    double at_s;     /* seconds after MPI_Init; -1: not given */
    char target[48]; /* what follows RANK@ if it is not a number (the start of a phase name), or
                       what follows RANK: of a lie; "" if absent */
};

struct common_options {
    bool json;
    double time_limit_s;
    const char *config_path; /* NULL: $MUSTER_CONF, else conf_default_path() */
    struct inject inject;
};

/* The rows of these options; their fields are in struct common_options. */
extern const struct option_row common_option_rows[];

/* Parses "die:5@2.5", "hang:3" or "lie:1:send". Returns 0, or -1 with err. */
int inject_parse(const char *text, struct inject *inject, struct error *err);

/* A take() of struct option_row: parses a share above 0 and below 1 into a double. */
int option_confidence(const char *value, void *confidence, struct error *err);

#endif
