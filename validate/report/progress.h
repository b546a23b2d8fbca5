/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PROGRESS_H
#define MUSTER_PROGRESS_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/base/record.h"
#include "validate/report/live.h"

/* Shows the progress, one line per stage. On a terminal the line is rewritten while the stage runs;
 * elsewhere it is printed once, when the stage is over. */
struct progress {
    FILE *stream;
    struct live *live; /* gets the same as events; NULL: none */
    bool is_terminal, has_colour;
    double begin, shown; /* times: of the begin of the stage, of the last update of the line */
    char stage[24];
    char doing[96];
};

void progress_init(struct progress *progress, FILE *stream);
void progress_begin(struct progress *progress, const char *stage);
/* Sets the current action of the stage. Cheap: may be called at any rate. */
void progress_doing(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void progress_tick(struct progress *progress);
/* Ends the stage: "links        12.3 s  3 of 4 nodes good". */
void progress_end(struct progress *progress, enum verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Ends the stage without a line. */
void progress_drop(struct progress *progress);
/* Prints a separate line, at any time. */
void progress_print(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
