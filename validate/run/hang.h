/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RUN_HANG_H
#define MUSTER_RUN_HANG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"

/* `muster watch` beside the command of `muster run`, until it tells that the job hangs. */

struct hang {
    pid_t pid; /* of the process that runs it; 0: none */
    int notes; /* what that process tells */
    bool is_told;
};

struct hang_note {
    bool is_hung;   /* false: it watches no more, text says why */
    char node[256]; /* that is named; "": none */
    char text[512]; /* what is said of it */
};

/* Begins to watch the job. patience_s: as muster watch's. Returns 0, or -1 with err. */
int hang_begin(struct hang *hang, uint32_t job_id, double patience_s, const char *config_path,
               struct error *err);

/* Whether something was told, which is once at most; that the process has ended without a word
 * counts as told. Does not wait. */
bool hang_take(struct hang *hang, struct hang_note *note);

/* Ends what hang_begin() began, whether it was or not. */
void hang_end(struct hang *hang);

#endif
