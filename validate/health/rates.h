/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RATES_H
#define MUSTER_RATES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* How fast counters of a node's parts rise, from samples of earlier checks of one boot. A total
 * since the driver was loaded says little: ten errors may be from one bad minute or from a year.
 * Pure. */

enum { RATES_SAMPLES = 16, RATES_SERIES_MOST = 4096 };

struct rates_series {
    char part[64], counter[32];
    size_t count;
    struct {
        int64_t time_s; /* since boot */
        uint64_t value;
    } samples[RATES_SAMPLES]; /* the oldest first */
};

struct rates {
    char boot_id[40];
    struct rates_series *series;
    size_t count;
};

/* Sets rates to no samples, in the boot boot_id. Release with rates_clear(). */
void rates_init(struct rates *rates, const char *boot_id);
void rates_clear(struct rates *rates);

/* Returns how much the part's counter, now at value, has risen within window_s. The base is the
 * newest sample at least window_s old, else the oldest sample, else 0 at boot; a rise over a longer
 * time counts in proportion. A counter below its last sample was reset, and counts from 0 at that
 * sample. Keeps value as a sample, at most one in 1/16 of the window; if memory is out, the base is
 * 0 at boot. */
double rates_update(struct rates *rates, const char *part, const char *counter, uint64_t value,
                    int64_t now_s, int64_t window_s);

/* Writes rates as text, and parses the text. rates_parse() returns -1, with rates as after
 * rates_init(), for a text of another boot or another format. It overwrites the text. */
int rates_write(const void *rates, FILE *stream);
int rates_parse(struct rates *rates, char *text, const char *boot_id);

#endif
