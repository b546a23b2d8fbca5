/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ACCELERATOR_LIBRARY_H
#define MUSTER_ACCELERATOR_LIBRARY_H

#include "validate/accelerator/accelerator.h"

/* Inside of validate/accelerator: what the readers of the libraries share. All of it runs in the
 * child. The report lies in memory that the parent sees: what is filled in stays when the child
 * dies. */

struct reading {
    struct accelerator_report *report;
    void *library;         /* of dlopen */
    const char **function; /* what is being called now, for the parent */
    int *device;           /* of which device; -1: none */
};

/* Ends the reading with that outcome. Returns -1. */
int reading_end(struct reading *reading, enum accelerator_outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The function, noted as the one that is being called; NULL where the library lacks it. */
void *reading_function(struct reading *reading, const char *name);

void value_set(struct accelerator *device, enum accelerator_value_id id, long long number);
void value_fail(struct accelerator *device, enum accelerator_value_id id,
                enum accelerator_answer answer, int error);

/* One vendor's library. */
struct accelerator_reader {
    const char *library;
    int (*read)(struct reading *reading); /* 0, or -1 after reading_end() */
};

extern const struct accelerator_reader accelerator_nvml;

#endif
