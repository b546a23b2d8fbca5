/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PART_COUNTERS_H
#define MUSTER_PART_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/node/inventory.h"

/* What all parts of a node have counted at one moment: errors of NICs, ports, PCIe, GPUs and
 * memory, kills for want of memory, and the memory in use. Two of them tell what moved in between.
 */

enum { PART_NAME = 32, COUNTER_NAME = 28, PART_COUNTERS_MOST = 8192 };

#define PART_COUNTER_UNREAD UINT64_MAX /* what it has counted is not known */

struct part_counter {
    char part[PART_NAME]; /* "eth1", "mlx5_0:1", "gpu3", "mc0" (a memory controller), "node" */
    char counter[COUNTER_NAME]; /* a metric of lib/catalog; "" says that the part was there */
    uint64_t value;
};

struct part_counters {
    char boot_id[40];
    int64_t time_s; /* CLOCK_MONOTONIC */
    struct part_counter *items;
    size_t count;
    bool is_lost; /* one found no place: there are none, and none is added */
};

/* None yet, of that boot. Release with part_counters_clear(). */
void part_counters_init(struct part_counters *counters, const char *boot_id, int64_t time_s);
void part_counters_clear(struct part_counters *counters);

/* Of a counter: "count", or "bytes" of memory_used. */
const char *part_counter_unit(const char *counter);

/* Adds one; "" for a part that has counted nothing. What has a name that does not fit, or with a
 * blank in it, is left out. Where one finds no place all are lost: else it would be new later, with
 * all that it has counted since the boot. */
void part_counters_add(struct part_counters *counters, const char *part, const char *counter,
                       uint64_t value);

/* Adds what the node below root has, but for what is 0. Costs some microseconds a file. All are
 * lost as well for want of memory or descriptors. */
void part_counters_read(const char *root, const struct inventory *inventory,
                        struct part_counters *counters);

/* Calls each() for what is more now than it was then, with how much more. Nothing where the node
 * was booted in between. A part that was not there then, a counter that could not be read, and one
 * that is less now, as after a driver was loaded again, have not moved; of the memory in use counts
 * what is more than 1 GB. */
void part_counters_moved(const struct part_counters *then, const struct part_counters *now,
                         void (*each)(const struct part_counter *moved, void *context),
                         void *context);

/* As a text, and back. part_counters_parse() refuses a text that was not written so: -1, and
 * counters hold none. A text that was cut off has what is whole. The text is overwritten. */
int part_counters_write(const void *counters, FILE *stream);
int part_counters_parse(struct part_counters *counters, char *text);

#endif
