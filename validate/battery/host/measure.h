/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HOST_MEASURE_H
#define MUSTER_HOST_MEASURE_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "validate/battery/host/evaluate.h"

/* The measurements on this node, one thread a core, bound to it. */

/* What a thread that waits for a measurement calls now and then, as long as it gets on. */
struct measure_wait {
    void (*tick)(void *context);
    void *context;
};

struct measure {
    struct host_node *node; /* as topology_read() left it; gets the figures */
    double cache_bytes[HOST_NUMA_NODES];
    int numa_of[HOST_CORES];
    bool is_corrupt; /* for self-tests: the first core's results are wrong */
    struct measure_wait wait;
};

/* Allows this process all processors that its cgroup does, and reads what they are. */
int measure_open(struct measure *measure, struct error *err);

/* Runs the kernel so often on all cores at once, or on those with the flag in is_chosen (NULL: all
 * cores). expected: counts results that are others in again and again_wrong; NULL: a first look,
 * notes sums. The best rate counts. 0, or -1 with err. */
int measure_cores(struct measure *measure, const bool *is_chosen, int repeats,
                  const uint64_t *expected, struct error *err);

/* Rounds of STREAM's triad on all cores at once; the best counts that was kept from running least.
 */
int measure_memory(struct measure *measure, struct error *err);

/* Writes and reads a file without a name in the folder, past the page cache: node->disks, or
 * node->disk_text with the reason. Nothing of it stays, however the process ends. */
void measure_disk(struct measure *measure, const char *folder);

#endif
