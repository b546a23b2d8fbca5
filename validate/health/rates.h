/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RATES_H
#define MUSTER_RATES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* How fast counters of a node's parts rise: a total since the driver was loaded says little, as ten
 * errors may be of one bad minute or of a year. Samples of earlier checks of one boot, and what
 * they come to. Pure. */

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

/* No samples, of that boot. Release with rates_clear(). */
void rates_init(struct rates *rates, const char *boot_id);
void rates_clear(struct rates *rates);

/* How far a counter of that part, now at value, has risen within window_s: since the newest sample
 * that is as old as that, or the oldest, or boot, when it was 0; of a longer time its share. Keeps
 * value as a sample, at most one in a sixteenth of the window. A counter that is less than it was
 * has been reset: what it has counted since then is all that is known. Returns the rise;
 * without memory as if no sample were kept. */
double rates_take(struct rates *rates, const char *part, const char *counter, uint64_t value,
                  int64_t now_s, int64_t window_s);

/* As a text, and back. rates_parse() refuses a text of another boot or that was not written so: -1,
 * and rates are as of rates_init(). The text is overwritten. */
int rates_write(const void *rates, FILE *stream);
int rates_parse(struct rates *rates, char *text, const char *boot_id);

#endif
