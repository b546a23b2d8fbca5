/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HOST_EVALUATE_H
#define MUSTER_HOST_EVALUATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/record.h"

/* What the processors, memory and disks of nodes measured, and which of them are at fault. Pure. */

enum { HOST_CORES = 512, HOST_NUMA_NODES = 64 };

enum host_figure { HOST_RATE, HOST_TRIAD, HOST_READ, HOST_WRITE, HOST_IOPS, HOST_FIGURES };

/* A figure of one part: the best of its samples counts. */
struct host_value {
    float best, lowest; /* in the figure's unit; 0: not measured */
    float stalled;      /* share of the time of the best sample in which it was not scheduled */
    int samples;
};

struct host_core {
    uint64_t sum, other;         /* of the results: the first one, one that differs */
    struct host_value rate;      /* per processor time: a thread that waits is not slower */
    uint32_t repeats, others;    /* and how many of them had a result other than the first */
    uint32_t again, again_wrong; /* when measured again, as it differed from peers */
    uint16_t cpu, socket;        /* the kernel's numbers */
};

struct host_numa {
    struct host_value triad;
    int number; /* the kernel's */
};

struct host_node {
    char model[96];   /* of the processor, and which instructions the kernel used */
    char machine[40]; /* the boot ID, which nodes of one machine share */
    double memory_gib;
    char text[160];                        /* why nothing was measured; "": it was */
    bool is_shared;                        /* other nodes of the run are on the same machine */
    bool is_skipped;                       /* ... and that is no fault */
    double quota_share;                    /* of the time, in which a CPU quota throttled it */
    double array_share;                    /* of the wanted size of the arrays, 1 at most */
    char disk[64];                         /* the folder; "": none is named */
    char disk_text[160];                   /* why it was not measured; "": it was */
    struct host_value disks[HOST_FIGURES]; /* of HOST_READ and up */
    int core_count, numa_count;
    struct host_core cores[HOST_CORES];
    struct host_numa numas[HOST_NUMA_NODES];
};

/* How many parts of the node have that figure: cores, NUMA nodes, one disk. */
int host_part_count(const struct host_node *node, enum host_figure figure);

/* Returns what the figure should be: the median over all nodes of the same kind, of two values the
 * better one, of one alone NAN. Nodes of a kind have the same model of processor, as many cores and
 * NUMA nodes, and memory of the same size. Values that were not scheduled do not count, except
 * those of disks: the disk is at least as fast as these. */
double host_reference(const struct host_node *nodes, size_t count, size_t node,
                      enum host_figure figure);

/* Whether a part is low against the reference. index: of cores, of numas, 0 of a disk. A part is
 * not low if it is so on most nodes of the kind: these reach no more. If the node is the only one
 * of its kind, its parts are not low if more than a quarter of them would be. Processors and memory
 * of a node that shares its machine are never low: what runs on the other nodes slows them down. */
bool host_is_low(const struct host_node *nodes, size_t count, size_t node, enum host_figure figure,
                 int index, double reference);

/* Sets *expected to the result that more than half of the cores of the node's model have. Returns
 * false if there is none. */
bool host_expected_sum(const struct host_node *nodes, size_t count, size_t node,
                       uint64_t *expected);

/* Whether some result of the core is not the expected one. */
bool host_differs(const struct host_core *core, uint64_t expected);

/* Reports a record for each part that was measured. */
void host_evaluate(const struct host_node *nodes, size_t count, const char *const *names,
                   const struct record_sink *sink);

#endif
