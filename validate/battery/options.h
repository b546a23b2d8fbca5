/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_OPTIONS_H
#define MUSTER_BATTERY_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/base/error.h"

/* The options of a battery program: one table drives parsing and --help. */

/* A fault that a program plants in itself, so that each of its verdicts can be proved. */
enum inject_kind { INJECT_NONE, INJECT_LIE, INJECT_DIE, INJECT_HANG, INJECT_FREEZE };

struct inject {
    enum inject_kind kind;
    int rank;
    double at_s;    /* seconds after MPI_Init; -1: not given */
    char where[48]; /* what follows RANK@ when it is no number (the beginning of a phase's name), or
                       RANK: of a lie; "" when absent */
};

/* What all the programs take. */
struct common_options {
    bool json;
    double time_limit_s;
    const char *config_path; /* NULL: $MUSTER_CONF, else conf_default_path() */
    struct inject inject;
};

/* One more option. With argument NULL it takes none. The value "-" is the next line of standard
 * input: a list may be longer than an argument can be. take() puts value (as lasting as argv, NULL
 * without argument) into context; it returns 0, or -1 with err "expected ..., found ...". */
struct option_spec {
    const char *name;     /* without the dashes */
    const char *argument; /* "LIST" */
    const char *help;     /* may have several lines */
    int (*take)(const char *value, void *context, struct error *err);
};

enum options_result { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_VERSION, OPTIONS_BAD };

/* Reads argv. specs ends with a name NULL. Prints nothing. err is set for OPTIONS_BAD. */
enum options_result options_parse(int argc, char **argv, const struct option_spec *specs,
                                  void *context, struct common_options *common, struct error *err);

/* --help: usage, summary (lines for a person), the table. */
void options_help(FILE *stream, const char *program, const char *summary,
                  const struct option_spec *specs);

/* "die:5@2.5", "hang:3", "lie:1:send". Returns 0, or -1 with err. */
int inject_parse(const char *text, struct inject *inject, struct error *err);

/* Helpers of take(): a whole number or a size ("64K", "1M", "2G": powers of 1024) within bounds. */
int option_number(const char *value, long low, long high, long *number, struct error *err);
int option_size(const char *value, long long low, long long high, long long *size_bytes,
                struct error *err);
int option_seconds(const char *value, double low, double high, double *seconds, struct error *err);
int option_confidence(const char *value, double *confidence, struct error *err);

#endif
