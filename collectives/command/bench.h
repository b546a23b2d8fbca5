/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CODEC_BENCH_H
#define MUSTER_CODEC_BENCH_H

#include "collectives/command/stream.h"

/* What the codec makes of a file, and how fast, in memory and on one core. */

struct bench_rate {
    const char *path;
    double coding_GBps,
        decoding_GBps; /* 10^9 bytes of values per second of processor time, medians */
    unsigned rounds;
};

enum { BENCH_PATHS_MAX = 4 };

struct bench {
    enum codec_type type;
    size_t values_bytes, coded_bytes;
    /* Shannon's bound with sign and mantissa as they are: exponents by their frequencies in the
     * whole file, and in each block, which is what a table per block can reach */
    double bound_bytes, block_bound_bytes;
    unsigned paths;
    struct bench_rate rates[BENCH_PATHS_MAX];
};

/* Reads at most 256 MiB of the file and codes and decodes them for about `seconds` on each path, or
 * on `only` when that is given. */
int bench_run(const char *input, const enum codec_type *type, const struct codec_path *only,
              double seconds, struct bench *bench, struct error *err);

#endif
