/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/choose/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const size_t machine_sizes[MACHINE_SIZES] = {8, 512, 8192, 65536, 1 << 20, 4 << 20};

/* Interpolates between two points on a log-log scale. */
static double interpolate(double x0, double y0, double x1, double y1, double x)
{
    return y0 * pow(x / x0, log(y1 / y0) / log(x1 / x0));
}

/* Extrapolates above two points at their rate; if the time does not grow, at the rate of the
 * greater alone. */
static double extrapolate(double x0, double y0, double x1, double y1, double x)
{
    double slope = y1 > y0 ? (y1 - y0) / (x1 - x0) : y1 / x1;

    return y1 + (x - x1) * slope;
}

static enum link_class measured_class(const struct machine *machine, enum link_class class)
{
    for (int distance = 0; distance < LINK_CLASSES; distance++) {
        int below = (int)class - distance, above = (int)class + distance;

        if (below >= 0 && machine->has_link[below])
            return (enum link_class)below;
        if (above < LINK_CLASSES && machine->has_link[above])
            return (enum link_class)above;
    }
    return class;
}

double machine_link_us(const struct machine *machine, enum link_class class, size_t bytes)
{
    const double *time = machine->link_us[measured_class(machine, class)];
    unsigned i = 1;

    if (bytes <= machine_sizes[0])
        return time[0];
    while (i < MACHINE_SIZES - 1 && bytes > machine_sizes[i])
        i++;
    return (bytes <= machine_sizes[i] ? interpolate : extrapolate)(
        (double)machine_sizes[i - 1], time[i - 1], (double)machine_sizes[i], time[i],
        (double)bytes);
}

bool machine_has_codec(const struct machine *machine, enum codec_type type)
{
    return machine->encode_GBps[type] > 0 && machine->decode_GBps[type] > 0 &&
           machine->ratio[type] > 0;
}

size_t machine_coded_bytes(const struct machine *machine, enum codec_type type, size_t count)
{
    size_t left = count % CODEC_BLOCK_ELEMENTS, each = codec_type_bytes(type);
    size_t stored = left < CODEC_BLOCK_ELEMENTS_CODED ? left : 0;

    return (size_t)((double)((count - stored) * each) / machine->ratio[type]) +
           (left > 0 ? CODEC_BLOCK_HEADER_BYTES + stored * each : 0);
}

/* The time at the rate of whole blocks, in us. */
static double codec_us(const struct machine *machine, enum codec_type type, double rate_GBps,
                       size_t count)
{
    size_t left = count % CODEC_BLOCK_ELEMENTS, each = codec_type_bytes(type);
    double whole = (double)((count - left) * each) / 1e3 / rate_GBps;
    double block = (double)CODEC_BLOCK_ELEMENTS * (double)each / 1e3 / rate_GBps;
    double least = fmin(machine->block_us[type], block);

    if (left < CODEC_BLOCK_ELEMENTS_CODED) /* stored uncoded, which takes next to no time */
        return whole;
    return whole + least + (block - least) * (double)left / CODEC_BLOCK_ELEMENTS;
}

double machine_coding_us(const struct machine *machine, enum codec_type type, size_t count)
{
    return codec_us(machine, type, machine->encode_GBps[type], count);
}

double machine_decoding_us(const struct machine *machine, enum codec_type type, size_t count)
{
    return codec_us(machine, type, machine->decode_GBps[type], count);
}

double machine_lossless_us(const struct machine *machine, enum link_class class,
                           enum codec_type type, size_t bytes)
{
    size_t count = bytes / codec_type_bytes(type);

    if (!machine_has_codec(machine, type))
        return INFINITY;
    return fmax(machine_link_us(machine, class, machine_coded_bytes(machine, type, count)),
                machine_coding_us(machine, type, count) +
                    machine_decoding_us(machine, type, count));
}

/* ---------------------------------------------------------------------------------- benchmarks */

static bool is_same(const struct machine_benchmark *benchmark, enum collective_kind kind,
                    enum wire_format wire, const char *algorithm, size_t segment_bytes)
{
    return benchmark->kind == kind && benchmark->wire == wire &&
           benchmark->segment_bytes == segment_bytes &&
           strcmp(benchmark->algorithm, algorithm) == 0;
}

int machine_add_benchmark(struct machine *machine, const struct machine_benchmark *benchmark,
                          struct error *err)
{
    struct machine_benchmark *more;

    for (unsigned i = 0; i < machine->benchmark_count; i++)
        if (is_same(&machine->benchmarks[i], benchmark->kind, benchmark->wire, benchmark->algorithm,
                    benchmark->segment_bytes) &&
            machine->benchmarks[i].bytes == benchmark->bytes) {
            machine->benchmarks[i].time_us = benchmark->time_us;
            return 0;
        }
    more = reallocarray(machine->benchmarks, machine->benchmark_count + 1, sizeof *more);
    if (more == NULL)
        return error_set(err, "out of memory");
    machine->benchmarks = more;
    machine->benchmarks[machine->benchmark_count++] = *benchmark;
    return 0;
}

enum { OUTSIDE = 20, OUTSIDE_ONE = 4 }; /* extrapolation factors: from several sizes, from one */

/* Benchmarks from this size on are extrapolated at their own rate. The rate between a size within
 * the caches and one beyond them would look better the slower the smaller was. */
static const size_t whole_from = 1 << 20;

/* Whether any algorithm was tried for the kind and wire at a size in (above, bytes]. */
static bool is_tried_between(const struct machine *machine, enum collective_kind kind,
                             enum wire_format wire, size_t above, size_t bytes)
{
    for (unsigned i = 0; i < machine->benchmark_count; i++) {
        const struct machine_benchmark *benchmark = &machine->benchmarks[i];

        if (benchmark->kind == kind && benchmark->wire == wire && benchmark->bytes > above &&
            benchmark->bytes <= bytes)
            return true;
    }
    return false;
}

double machine_benchmark_us(const struct machine *machine, enum collective_kind kind,
                            enum wire_format wire, const char *algorithm, size_t segment_bytes,
                            size_t bytes)
{
    /* the two nearest sizes up to this one, and the nearest above it */
    const struct machine_benchmark *below[2] = {NULL, NULL}, *above = NULL;

    for (unsigned i = 0; i < machine->benchmark_count; i++) {
        const struct machine_benchmark *benchmark = &machine->benchmarks[i];

        if (!is_same(benchmark, kind, wire, algorithm, segment_bytes))
            continue;
        if (benchmark->bytes > bytes) {
            if (above == NULL || benchmark->bytes < above->bytes)
                above = benchmark;
        } else if (below[0] == NULL || benchmark->bytes > below[0]->bytes) {
            below[1] = below[0];
            below[0] = benchmark;
        } else if (below[1] == NULL || benchmark->bytes > below[1]->bytes) {
            below[1] = benchmark;
        }
    }
    if (below[0] != NULL && below[0]->bytes == bytes)
        return below[0]->time_us;
    if (below[0] != NULL && above != NULL)
        return interpolate((double)below[0]->bytes, below[0]->time_us, (double)above->bytes,
                           above->time_us, (double)bytes);
    if (below[0] != NULL) {
        const struct machine_benchmark *first = below[1];

        if (bytes / (first == NULL ? OUTSIDE_ONE : OUTSIDE) > below[0]->bytes ||
            is_tried_between(machine, kind, wire, below[0]->bytes, bytes))
            return 0;
        if (first == NULL || below[0]->bytes >= whole_from)
            return below[0]->time_us * (double)bytes / (double)below[0]->bytes;
        return extrapolate((double)first->bytes, first->time_us, (double)below[0]->bytes,
                           below[0]->time_us, (double)bytes);
    }
    /* below all sizes: as long as the smallest takes */
    return above != NULL && above->bytes / OUTSIDE <= (bytes > 0 ? bytes : 1) ? above->time_us : 0;
}

void machine_clear(struct machine *machine)
{
    free(machine->benchmarks);
    memset(machine, 0, sizeof *machine);
}
