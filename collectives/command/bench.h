/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CODEC_BENCH_H
#define MUSTER_CODEC_BENCH_H

#include "collectives/command/stream.h"

/* Measures the codec on a file: its ratio, and its rates in memory on one core. */

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
    /* Shannon's bound with sign and mantissa uncoded, for exponents by their frequencies in the
     * whole file, and in each block, the bound of a table per block */
    double bound_bytes, block_bound_bytes;
    unsigned paths;
    struct bench_rate rates[BENCH_PATHS_MAX];
};

/* Reads at most 256 MiB of the file; encodes and decodes them for about `seconds` on each path, or
 * on `only` if that is not NULL. */
int bench_run(const char *input, const enum codec_type *type, const struct codec_path *only,
              double seconds, struct bench *bench, struct error *err);

#endif
