/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MACHINE_H
#define MUSTER_MACHINE_H

#include "collectives/choose/layout.h"
#include "collectives/codec/codec.h"
#include "collectives/plan/plan.h"
#include "lib/base/error.h"

/* What was measured of a machine and the ranks on it: all that the chooser knows. Pure. */

enum { MACHINE_SIZES = 6, MACHINE_NAME = 32 };

/* Sizes of messages that were measured, ascending. */
extern const size_t machine_sizes[MACHINE_SIZES];

/* The time of one collective as it was measured once. */
struct machine_benchmark {
    enum collective_kind kind;
    enum wire_format wire;        /* WIRE_AS_IS, of fp32, or WIRE_LOSSLESS, of bf16 */
    char algorithm[MACHINE_NAME]; /* of algorithms[], or MACHINE_MPI */
    size_t segment_bytes;         /* 0: blocks whole */
    size_t bytes;                 /* of all blocks together, as collective_kind_factor() counts */
    double time_us;               /* of the rank that took longest */
};
#define MACHINE_MPI "mpi" /* MPI's own collective, whatever it does */

struct machine {
    /* One way, with messages in both directions at once, on all ranks that share the link too. */
    bool has_link[LINK_CLASSES];
    double link_us[LINK_CLASSES][MACHINE_SIZES];

    double reduce_GBps[ELEMENT_TYPES]; /* of results, on all ranks at once; 0: not measured */
    double copy_GBps;
    double encode_GBps[CODEC_TYPES], decode_GBps[CODEC_TYPES]; /* of elements, one core */
    double ratio[CODEC_TYPES];    /* bytes before / bytes after, of normal numbers */
    double block_us[CODEC_TYPES]; /* to code, or decode, a block of as few as are coded at all */

    double background_load; /* share of the processors, on the worst node */
    unsigned measured;      /* how often, 1 or 2: the better is kept; 0: never */

    struct machine_benchmark *benchmarks; /* malloc'd */
    unsigned benchmark_count;
};

/* The time of a message of this size over a link of this class, in us: between two measured sizes
 * on a line through the logarithms of both, above them at the rate of the greatest two. A class
 * that was not measured takes the figures of the nearest that was. */
double machine_link_us(const struct machine *machine, enum link_class class, size_t bytes);

/* Whether all that tells how fast numbers of this type travel coded without loss was measured. */
bool machine_has_codec(const struct machine *machine, enum codec_type type);

/* What count elements are when they are coded without loss, as normal numbers shrink: blocks of
 * CODEC_BLOCK_ELEMENTS and what is left, which is stored where it is few. */
size_t machine_coded_bytes(const struct machine *machine, enum codec_type type, size_t count);

/* How long coding them takes, or decoding: at the measured rates, and what is left in no less than
 * any block takes. Of a codec that was measured. */
double machine_coding_us(const struct machine *machine, enum codec_type type, size_t count);
double machine_decoding_us(const struct machine *machine, enum codec_type type, size_t count);

/* As machine_link_us(), of a message of whole elements that is coded without loss before it is sent
 * and decoded when it is there: the coded bytes over the link, and the codec's work at both ends,
 * the two overlapped, so that the slower decides. A hop of a ring codes once and decodes once.
 * Infinite where the codec was not measured. */
double machine_lossless_us(const struct machine *machine, enum link_class class,
                           enum codec_type type, size_t bytes);

/* Adds a benchmark; of two of the same kind, wire, algorithm, segment and size the later one is
 * kept. -1: out of memory. */
int machine_add_benchmark(struct machine *machine, const struct machine_benchmark *benchmark,
                          struct error *err);

/* The time of a collective from its benchmarks at other sizes, interpolated as links are; outside
 * the range tried at most by a factor of 20, or 4 where it is one size, at the rate of the end (of
 * 1 MiB and more: that of the greatest benchmark alone). 0: it was not tried, or too far from this
 * size, or others were tried at a greater size up to this one and it was not worth it: a rate
 * within the caches says nothing of one beyond them. */
double machine_benchmark_us(const struct machine *machine, enum collective_kind kind,
                            enum wire_format wire, const char *algorithm, size_t segment_bytes,
                            size_t bytes);

/* As lines of text, and back: what is measured is agreed among ranks and kept in this form. The
 * text is malloc'd; NULL: out of memory. */
char *machine_write(const struct machine *machine);

/* name stands before messages: "NAME:LINE: ...". The machine is all zeros where -1 is returned. */
int machine_read(const char *text, const char *name, struct machine *machine, struct error *err);

/* Frees what it holds; it is all zeros then. */
void machine_clear(struct machine *machine);

#endif
