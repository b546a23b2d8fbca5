/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RUN_EXAMINE_H
#define MUSTER_RUN_EXAMINE_H

#include <signal.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"

struct examination {
    const struct hostlist *nodes; /* of the job that we are in */
    size_t keep;                  /* number of good nodes wanted */
    const char *level;            /* "quick", "standard" */
    const char *config_path;      /* NULL: the usual one */
    double budget_s;
    void (*on_tick)(void *context); /* called some ten times a second */
    void *context;
    const volatile sig_atomic_t *stop; /* ends it */
};

/* Runs muster preflight on the nodes; its messages go to standard error, and it leaves its suspect
 * reports. Adds each node that passed to passed and each that failed to failed; a node in neither
 * is unknown. Returns 0, or -1 with err if all are unknown. */
int examine(const struct examination *examination, struct hostlist *passed, struct hostlist *failed,
            struct error *err);

#endif
