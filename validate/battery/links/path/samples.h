/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SAMPLES_H
#define MUSTER_SAMPLES_H

#include <stdbool.h>

/* Statistics of the samples of one figure. Pure. */

/* Whether the 95 % interval of their median (statistics_interval()) lies within 5 % of the median
 * on either side: then more samples would not change the figure (Hoefler and Belli, SC'15). */
bool samples_are_tight(const double *samples, int count);

/* Sets the interval that is reported with the figure of a whole stream, whose parts are the
 * samples: the interval of their median, widened to hold the figure. A pause in one sample, or in
 * few, lowers the figure of the whole, which is what a job gets, but not the median. figure NAN:
 * the interval of the median. NAN for no samples. */
void samples_interval(const double *samples, int count, double figure, double *low, double *high);

/* Returns the number of outliers: further from the median than 3 deviations. A deviation is 1.4826
 * MAD, and at least SAMPLES_DEVIATION_LEAST_SHARE of the median, so that a very steady link has no
 * outliers. */
int samples_outliers(const double *samples, int count);

/* Returns the lowest sample; NAN for none. */
double samples_lowest(const double *samples, int count);

/* What a receiver had at one moment of a stream. */
struct arrival {
    double time_s;
    double payload_bytes; /* messages that it has read */
    double counted_bytes; /* what its interface has counted */
};

/* Returns what the link carried in the best part of the stream, a quarter of its time or more, in
 * 10^6 bit/s; 0: not known. A process that was not scheduled finds much to read at once, and some
 * interfaces update their counters only now and then. So the lower of payload and count is used,
 * and neither makes a link look faster than it is. One long pause, in which nobody could send or
 * read, is left out. O(count^2). */
double arrivals_best_mbps(const struct arrival *arrivals, int count);

/* Flows that ran at the same time: marks_s[0] when one began, marks_s[i] when the i-th part of
 * mark_bytes was there. */
struct flow {
    const double *marks_s;
    int mark_count; /* parts */
    double mark_bytes;
};

/* Sets the time in which all flows ran: from the latest begin to the earliest end. Flows without
 * parts do not count. Returns false if there is no such time. */
bool flows_window(const struct flow *flows, int count, double *begin_s, double *end_s);

/* Returns 10^6 bit/s of the flow in that time. What lies between two marks is spread evenly. */
double flow_mbps(const struct flow *flow, double begin_s, double end_s);

#endif
