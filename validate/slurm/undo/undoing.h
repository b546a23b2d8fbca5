/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_UNDOING_H
#define MUSTER_UNDOING_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"

struct cluster_operations;

/* Internal to undo/: the undo of a journal that has been read. */
struct undoing {
    const struct cluster_operations *operations;
    const char *text; /* of the journal */
    const char *run;  /* whose journal it is */
    bool is_late;     /* a request that the run made may still be on its way */
    void (*report)(const char *text);
    struct hostlist *changed; /* gets the reservations that stay; or NULL */
};

/* Undoes the journal. Jobs come first: a reservation in use cannot be deleted. Reservations come
 * last: nodes must not become free for others before they are drained again. If a node could not be
 * drained again, the reservations stay. Returns 0, or -1 with err. */
int undoing_run(const struct undoing *undoing, struct error *err);

/* Passes a line to report, if that is set. */
void undoing_report(const struct undoing *undoing, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
