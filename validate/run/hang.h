/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RUN_HANG_H
#define MUSTER_RUN_HANG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"

/* Runs `muster watch` beside the command of `muster run`, until it reports that the job hangs. */

struct hang {
    pid_t pid; /* of the process that runs it; 0: none */
    int notes; /* the pipe with its note */
    bool is_reported;
};

struct hang_note {
    bool is_hung;   /* false: it watches no more, text says why */
    char node[256]; /* that is named; "": none */
    char text[512]; /* its message */
};

/* Begins to watch the job. patience_s: as muster watch's. Returns 0, or -1 with err. */
int hang_begin(struct hang *hang, uint32_t job_id, double patience_s, const char *config_path,
               struct error *err);

/* Returns whether a note came, at most once; if the process has ended without one, that counts as a
 * note. Does not wait. */
bool hang_poll(struct hang *hang, struct hang_note *note);

/* Ends what hang_begin() began, if anything. */
void hang_end(struct hang *hang);

#endif
