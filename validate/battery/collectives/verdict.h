/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_VERDICT_H
#define MUSTER_BATTERY_VERDICT_H

#include "validate/battery/collectives/cases.h"

/* The account of the cases that were run, and the records made of it. */

struct case_note {
    int collective; /* index */
    int first_case; /* number of the first of its cases */
    int count;
    enum value_type type;
    enum reduce_op op;
    bool in_place;
    const char *comm;
};

enum { ACCOUNT_COLLECTIVES = ROUTINES };

struct account {
    struct case_note *notes;
    int note_count;
    int cases[ACCOUNT_COLLECTIVES], mismatches[ACCOUNT_COLLECTIVES];
    int left_out[ACCOUNT_COLLECTIVES]; /* cases that the algorithm does not support */
};

void account_add(struct account *account, int collective, const struct bench *bench, int first_case,
                 int mismatches);
void account_clear(struct account *account);

/* Returns the number of rank 0 on all ranks, by point-to-point messages: collectives are in
 * doubt. */
int verdict_broadcast(struct program *program, int number);

/* Whether the results of all ranks until now leave nothing open: nothing was wrong, or each wrong
 * result is one rank's fault. Uses point-to-point messages. All ranks call it and get the same. */
bool verdict_is_clear(struct program *program, const struct bench *bench);

/* Collects the results of all ranks on rank 0 by point-to-point messages, and reports a record per
 * collective and one for each rank that is at fault. All ranks call it. */
void verdict_report(struct program *program, const struct bench *bench, struct account *account,
                    bool is_complete);

#endif
