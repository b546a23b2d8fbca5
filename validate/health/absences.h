/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ABSENCES_H
#define MUSTER_ABSENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/catalog/catalog.h"

/* Parts that a health check does not find, and links that are down. A driver that is loaded again,
 * a device that is reset, or the port of a switch that restarts is away for a moment: only what is
 * missing in ABSENCES_IN_A_ROW checks in a row is gone. Pure. */

enum { ABSENCES_IN_A_ROW = 3, ABSENCES_MOST = 128 };

struct absences {
    char boot_id[40];
    struct absence {
        enum fault_code code;
        char part[64]; /* "" */
        unsigned times;
        bool is_missing; /* in this check */
    } items[ABSENCES_MOST];
    size_t count;
};

/* None, of that boot. */
void absences_init(struct absences *absences, const char *boot_id);

/* Whether the fault is that a GPU, its driver or its file, an interface, or the link of one is
 * missing. */
bool absences_concern(enum fault_code code);

/* Takes a part that this check misses. Returns in how many checks in a row it was missing, this one
 * counted; ABSENCES_IN_A_ROW where there is no room for it. */
unsigned absences_take(struct absences *absences, enum fault_code code, const char *part);

/* What was missing in this check as a text, for the next one. absences_parse() refuses a text of
 * another boot or that was not written so: -1, and there are none. The text is overwritten. */
int absences_write(const void *absences, FILE *stream);
int absences_parse(struct absences *absences, char *text, const char *boot_id);

#endif
