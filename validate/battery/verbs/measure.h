/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VERBS_MEASURE_H
#define MUSTER_VERBS_MEASURE_H

#include "validate/battery/verbs/flow.h"

/* The streams of a figure. */

/* Warms up, which settles stream->bytes_per_s, or measures: samples of the plan, more of them until
 * each figure is certain or the plan's most are taken. Returns 0, or -1 with err. */
int verbs_measure(struct verbs_stream *streams, int count, const struct path_plan *plan,
                  bool is_warmup, struct error *err);

/* What the stream found, as a path's result. */
void measure_take(const struct verbs_stream *stream, struct path_result *path);

#endif
