/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SAMPLES_H
#define MUSTER_SAMPLES_H

#include <stdbool.h>

/* What the samples of one figure say of it. Pure. */

/* Whether the 95 % interval of their median (statistics_interval()) lies within 5 % of the median
 * on either side: then more samples would not change the figure (Hoefler and Belli, SC'15). */
bool samples_are_tight(const double *samples, int count);

/* The interval that is told beside a figure of the whole stream that the samples are parts of: that
 * of their median, as far down or up as the figure lies. A pause in one sample, or in few, lowers
 * the figure of the whole, which is what a job gets, and leaves their median where it was. figure
 * NAN: that of the median. NAN for no samples. */
void samples_interval(const double *samples, int count, double figure, double *low, double *high);

/* How many are not of one kind with the others: further from the median than 3 times 1.4826 MAD,
 * where that is at least 5 % of the median, so that a very steady link has no outliers. */
int samples_outliers(const double *samples, int count);

/* NAN for none. */
double samples_lowest(const double *samples, int count);

/* What a receiver had at some moments of one stream. */
struct arrival {
    double time_s;
    double payload_bytes; /* messages that it has read */
    double counted_bytes; /* what its interface has counted */
};

/* What the link carried in the best part of the stream, a quarter of its time or more, in 10^6
 * bit/s; 0: not known. A process that was not let run in between finds much to read at once, and
 * some interfaces bring their counters up to date from time to time only: of the two the lower one
 * counts, so that neither makes a link look faster than it is. Time in which nobody could send or
 * read is left out as far as it is in one piece. O(count^2). */
double arrivals_best_mbps(const struct arrival *arrivals, int count);

/* Flows that ran at the same time: marks_s[0] when one began, marks_s[i] when the i-th part of
 * mark_bytes was there. */
struct flow {
    const double *marks_s;
    int mark_count; /* parts */
    double mark_bytes;
};

/* The time in which all of them ran: from the latest begin to the earliest end. Flows without parts
 * do not count. Returns false when there is no such time. */
bool flows_window(const struct flow *flows, int count, double *begin_s, double *end_s);

/* 10^6 bit/s of the flow in that time; what lies between two marks is spread evenly. */
double flow_mbps(const struct flow *flow, double begin_s, double end_s);

#endif
