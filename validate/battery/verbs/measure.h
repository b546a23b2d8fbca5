/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VERBS_MEASURE_H
#define MUSTER_VERBS_MEASURE_H

#include "validate/battery/verbs/flow.h"

/* The streams of a figure. */

/* Warms up, which sets stream->bytes_per_s, or measures plan->samples samples. Returns 0, or -1
 * with err. */
int verbs_measure(struct verbs_stream *streams, int count, const struct path_plan *plan,
                  bool is_warmup, struct error *err);

/* Connects two links of one node, writes from the one to the other and measures that. mtu_bytes as
 * for verbs_link_connect(). Returns 0, or -1 with err. */
int verbs_measure_within(struct verbs_link *from, struct verbs_link *to, const char *node,
                         int mtu_bytes, const struct path_plan *plan, struct path_result *path,
                         struct error *err);

/* Sets the bandwidth of a path to what the stream measured. */
void verbs_stream_summarize(const struct verbs_stream *stream, struct path_result *path);

#endif
