/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ABSENCES_H
#define MUSTER_ABSENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/catalog/catalog.h"

/* Parts that a health check does not find, and links that are down. A driver that is reloaded, a
 * device that is reset, or a port of a switch that restarts is absent for a moment. So a part
 * counts as missing only after ABSENCES_IN_A_ROW checks in a row. Pure. */

enum { ABSENCES_IN_A_ROW = 3, ABSENCES_MOST = 128 };

struct absences {
    char boot_id[40];
    struct absence {
        enum fault_code code;
        char test[32]; /* that found it */
        char part[64]; /* "" */
        unsigned times;
        bool is_missing; /* in this check, or in the last one if its test does not run in this */
    } items[ABSENCES_MOST];
    size_t count;
};

/* Sets absences to none, in the boot boot_id. */
void absences_init(struct absences *absences, const char *boot_id);

/* Whether the fault means that a GPU, its driver or its file, an interface, or a link is missing.
 */
bool absences_concern(enum fault_code code);

/* Notes that the test does not find the part in this check. Returns in how many checks in a row it
 * is missing, this one included; ABSENCES_IN_A_ROW if there is no room for it. */
unsigned absences_add(struct absences *absences, const char *test, enum fault_code code,
                      const char *part);

/* Writes the parts that this check missed as text, for the next check, and parses the text.
 * absences_parse() returns -1 and no absences for a text of another boot or another format. It
 * overwrites the text. */
int absences_write(const void *absences, FILE *stream);
int absences_parse(struct absences *absences, char *text, const char *boot_id);

#endif
