/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HOST_MEASURE_H
#define MUSTER_HOST_MEASURE_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "validate/battery/host/evaluate.h"

/* The measurements on this node, one thread a core, bound to it. */

/* Called now and then by a thread that waits for a measurement, as long as that makes progress. */
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

/* Allows this process all processors that its cgroup allows, and reads what they are. Returns 0, or
 * -1 with err. */
int measure_open(struct measure *measure, struct error *err);

/* Runs the kernel `repeats` times on all chosen cores at once (is_chosen NULL: on all). The best
 * rate counts. expected: counts results in again, and those that differ from *expected in
 * again_wrong; NULL: the first measurement, stores the results. Returns 0, or -1 with err. */
int measure_cores(struct measure *measure, const bool *is_chosen, int repeats,
                  const uint64_t *expected, struct error *err);

/* Runs rounds of STREAM's triad on all cores at once. The round counts that was stalled least, of
 * equal ones the best. Returns 0, or -1 with err. */
int measure_memory(struct measure *measure, struct error *err);

/* Writes and reads a file without a name in the folder, past the page cache. Sets node->disks, or
 * node->disk_text to the reason. The file is gone with the process, however that ends. */
void measure_disk(struct measure *measure, const char *folder);

#endif
