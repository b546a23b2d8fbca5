/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ROLLBACK_H
#define MUSTER_ROLLBACK_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"

struct cluster_operations;

/* Internal to undo/: rolls back the changes in a journal. */
struct rollback {
    const struct cluster_operations *operations;
    const char *text;        /* of the journal */
    const char *run;         /* whose journal it is */
    bool is_request_pending; /* a job request of the run may still be in flight */
    void (*report)(const char *text);
    struct hostlist *changed; /* gets the reservations that stay; or NULL */
};

/* Undoes the journal. Jobs come first: a reservation in use cannot be deleted. Reservations come
 * last: nodes must not become free for others before they are drained again. If a node could not be
 * drained again, the reservations stay. Returns 0, or -1 with err. */
int rollback_run(const struct rollback *rollback, struct error *err);

/* Passes a line to report, if that is set. */
void rollback_report(const struct rollback *rollback, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
