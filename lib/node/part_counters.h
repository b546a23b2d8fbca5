/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PART_COUNTERS_H
#define MUSTER_PART_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/node/inventory.h"

/* The counters of all parts of a node at one moment: errors of NICs, ports, PCIe, GPUs and memory,
 * out-of-memory kills, and the memory in use. Two of these sets show the changes in between. */

enum { PART_NAME = 32, COUNTER_NAME = 28, PART_COUNTERS_MOST = 8192 };

#define PART_COUNTER_UNREAD UINT64_MAX /* the value is not known */

struct part_counter {
    char part[PART_NAME]; /* "eth1", "mlx5_0:1", "gpu3", "mc0" (a memory controller), "node" */
    char counter[COUNTER_NAME]; /* a metric of lib/catalog; "": the part was there */
    uint64_t value;
};

struct part_counters {
    char boot_id[40];
    int64_t time_s; /* CLOCK_MONOTONIC */
    struct part_counter *items;
    size_t count;
    bool is_lost; /* a counter did not fit: the set is empty, and nothing is added */
};

/* Sets an empty set of counters. Release it with part_counters_clear(). */
void part_counters_init(struct part_counters *counters, const char *boot_id, int64_t time_s);
void part_counters_clear(struct part_counters *counters);

/* Returns the unit of a counter: "bytes" for memory_used, else "count". */
const char *part_counter_unit(const char *counter);

/* Adds a counter; counter "" notes that the part is there. Adds nothing if a name is too long or
 * has a blank or newline. If there is no room or memory, all counters are lost: a counter that is
 * missing once would be new later, with all that it has counted since boot. */
void part_counters_add(struct part_counters *counters, const char *part, const char *counter,
                       uint64_t value);

/* Adds the parts of the node below root, and their counters that are not 0. Takes some microseconds
 * per file. If memory or descriptors are out, all counters are lost. */
void part_counters_read(const char *root, const struct inventory *inventory,
                        struct part_counters *counters);

/* Calls each() for each counter that is greater now than then, with the difference as its value.
 * Does nothing if the node was rebooted in between. Skips a part that was not there then, a counter
 * that could not be read, and a counter that is less now, as after a driver was reloaded. The
 * memory in use counts only if it has grown by more than 1 GB. */
void part_counters_increased(const struct part_counters *then, const struct part_counters *now,
                             void (*each)(const struct part_counter *increase, void *context),
                             void *context);

/* Write counters as a text, and parse it. part_counters_write() returns 0, or -1 after a write
 * error. part_counters_parse() returns 0, or -1 with empty counters if the text has another format.
 * Of a text that was cut off it reads the whole lines. It overwrites the text. */
int part_counters_write(const void *counters, FILE *stream);
int part_counters_parse(struct part_counters *counters, char *text);

#endif
