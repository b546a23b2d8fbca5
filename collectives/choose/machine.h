/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MACHINE_H
#define MUSTER_MACHINE_H

#include "collectives/choose/layout.h"
#include "collectives/codec/codec.h"
#include "collectives/plan/plan.h"
#include "lib/base/error.h"

/* The measurements of a machine and its ranks: all data that the chooser uses. Pure functions. */

enum { MACHINE_SIZES = 6, MACHINE_NAME = 32 };

/* Message sizes that are measured, in bytes, ascending. */
extern const size_t machine_sizes[MACHINE_SIZES];

/* The measured time of one collective at one size. */
struct machine_benchmark {
    enum collective_kind kind;
    enum wire_format wire;        /* WIRE_AS_IS (numbers are fp32) or WIRE_LOSSLESS (bf16) */
    char algorithm[MACHINE_NAME]; /* a name in algorithms[], or MACHINE_MPI */
    size_t segment_bytes;         /* 0: blocks whole */
    size_t bytes;                 /* of all blocks together, as collective_kind_factor() counts */
    double time_us;               /* on the slowest rank */
};
#define MACHINE_MPI "mpi" /* MPI's own collective, whatever it does */

struct machine {
    /* Time of one message, while each rank sends and receives, and all ranks that share the link
     * do so at once. */
    bool has_link[LINK_CLASSES];
    double link_us[LINK_CLASSES][MACHINE_SIZES];

    double reduce_GBps[ELEMENT_TYPES]; /* result bytes per rank, all at once; 0: not measured */
    double copy_GBps;
    double encode_GBps[CODEC_TYPES], decode_GBps[CODEC_TYPES]; /* uncoded bytes, one core */
    double ratio[CODEC_TYPES];    /* uncoded / coded bytes of normally distributed numbers */
    double block_us[CODEC_TYPES]; /* the slower of encoding and decoding the smallest coded block */

    double background_load; /* of other processes: share of the processors, on the worst node */
    unsigned measured;      /* number of measurements, 1 or 2 (the better is kept); 0: none */

    struct machine_benchmark *benchmarks; /* malloc'd */
    unsigned benchmark_count;
};

/* Returns the time of a message over a link of the class, in us: interpolated on a log-log scale
 * between two measured sizes, extrapolated above all at the rate of the largest two. A class that
 * was not measured uses the figures of the nearest measured class. */
double machine_link_us(const struct machine *machine, enum link_class class, size_t bytes);

/* Whether the lossless codec was measured for this type: both rates and the ratio. */
bool machine_has_codec(const struct machine *machine, enum codec_type type);

/* Returns the bytes of count elements after lossless coding at the measured ratio. They form blocks
 * of CODEC_BLOCK_ELEMENTS and a rest, which is stored uncoded if it is short. */
size_t machine_coded_bytes(const struct machine *machine, enum codec_type type, size_t count);

/* Returns the time to encode, or decode, count elements, in us, at the measured rates. A coded rest
 * takes at least as long as the smallest coded block. The codec must have been measured. */
double machine_coding_us(const struct machine *machine, enum codec_type type, size_t count);
double machine_decoding_us(const struct machine *machine, enum codec_type type, size_t count);

/* Like machine_link_us(), for a message of whole elements that is encoded without loss before it is
 * sent and decoded on arrival, as in each hop of a ring. The transfer of the coded bytes and the
 * codec's work at both ends overlap: returns the longer of the two. Infinite if the codec was not
 * measured. */
double machine_lossless_us(const struct machine *machine, enum link_class class,
                           enum codec_type type, size_t bytes);

/* Adds a benchmark. It replaces one of the same kind, wire, algorithm, segment and size. Returns -1
 * if memory is out. */
int machine_add_benchmark(struct machine *machine, const struct machine_benchmark *benchmark,
                          struct error *err);

/* Returns the time of a collective in us, from its benchmarks: between two sizes interpolated as
 * links are; above all sizes, up to 20 times the largest (4 times a single size), at the rate of
 * the largest two (of the largest alone if it is 1 MiB or more); below all sizes, down to a 20th,
 * the time of the smallest. Returns 0 if it was not tried, if its sizes are too far away, or if
 * above them others were tried up to this size: a rate within the caches does not hold beyond them.
 */
double machine_benchmark_us(const struct machine *machine, enum collective_kind kind,
                            enum wire_format wire, const char *algorithm, size_t segment_bytes,
                            size_t bytes);

/* Writes the machine as lines of text, the form in which ranks share figures and files keep them.
 * Returns a malloc'd text, or NULL if memory is out. */
char *machine_write(const struct machine *machine);

/* Reads such a text. Messages begin with "NAME:LINE: ". On -1 the machine is all zeros. */
int machine_read(const char *text, const char *name, struct machine *machine, struct error *err);

/* Frees the benchmarks and sets the machine to zeros. */
void machine_clear(struct machine *machine);

#endif
