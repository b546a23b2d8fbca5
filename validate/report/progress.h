/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PROGRESS_H
#define MUSTER_PROGRESS_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/base/record.h"
#include "validate/report/live.h"

/* What is going on, on standard error: one line a stage. On a terminal the line is rewritten in
 * place while the stage runs; elsewhere it is printed once, when the stage is over. */
struct progress {
    FILE *stream;
    struct live *live; /* where others can look; NULL: nowhere */
    bool is_terminal, has_colour;
    double begin, shown; /* of the stage, of the last rewriting */
    char stage[24];
    char doing[96];
};

void progress_init(struct progress *progress, FILE *stream);
void progress_begin(struct progress *progress, const char *stage);
/* What the stage is at. Cheap: may be called at any rate. */
void progress_doing(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void progress_tick(struct progress *progress);
/* The stage is over: "links        12.3 s  3 of 4 nodes good". */
void progress_end(struct progress *progress, enum verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The stage is over, and there is nothing to tell about it. */
void progress_drop(struct progress *progress);
/* A line of its own, at any time. */
void progress_print(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
