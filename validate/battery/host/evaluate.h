/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HOST_EVALUATE_H
#define MUSTER_HOST_EVALUATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/record.h"

/* What the processors, memory and disk of nodes measured, and who of them is at fault. Pure. */

enum { HOST_CORES = 512, HOST_NUMA_NODES = 64 };

enum host_figure { HOST_RATE, HOST_TRIAD, HOST_READ, HOST_WRITE, HOST_IOPS, HOST_FIGURES };

/* A figure of one part: the best of its samples counts. */
struct host_value {
    float best, lowest; /* in the figure's unit; 0: not measured */
    float stalled;      /* share of the best one's time in which it was kept from running */
    int samples;
};

struct host_core {
    uint64_t sum, other;         /* of its results: that of the first repeat, one that differs */
    struct host_value rate;      /* of processor time: a thread that waits is not slower */
    uint32_t repeats, others;    /* and how many of these had another result than the first */
    uint32_t again, again_wrong; /* of a core that differed from its peers: measured again */
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
    double quota_share;                    /* of the time that a CPU quota held it back */
    double array_share;                    /* size of the arrays, of what it should be; 1 */
    char disk[64];                         /* the folder; "": none is named */
    char disk_text[160];                   /* why it was not measured; "": it was */
    struct host_value disks[HOST_FIGURES]; /* of HOST_READ and up */
    int core_count, numa_count;
    struct host_core cores[HOST_CORES];
    struct host_numa numas[HOST_NUMA_NODES];
};

/* How many parts of the node have that figure: cores, NUMA nodes, one disk. */
int host_part_count(const struct host_node *node, enum host_figure figure);

/* What that figure should be: the median over all nodes of the kind, of two values the better one,
 * NAN of one alone. The same model of processor, as many cores and NUMA nodes, and memory of one
 * size make a kind. Values that were kept from running are not counted, but those of disks, which
 * reach that at least. */
double host_reference(const struct host_node *nodes, size_t count, size_t node,
                      enum host_figure figure);

/* Whether the part of that index (of cores, of numas, 0 of a disk) is low against that reference.
 * What is low on most nodes of the kind alike is not: it is what such nodes reach. Of a node that
 * is alone of its kind, what is low on more than a quarter of its parts is not. Processors and
 * memory of a node that shares its machine are never: what runs on the others slows them down. */
bool host_is_low(const struct host_node *nodes, size_t count, size_t node, enum host_figure figure,
                 int index, double reference);

/* The result that more than half of the cores of that node's model have. False: there is none. */
bool host_expected_sum(const struct host_node *nodes, size_t count, size_t node,
                       uint64_t *expected);

/* Whether some result of the core is not that one. */
bool host_differs(const struct host_core *core, uint64_t expected);

/* A record for each that was measured. */
void host_evaluate(const struct host_node *nodes, size_t count, const char *const *names,
                   const struct record_sink *sink);

#endif
