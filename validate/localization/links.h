/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LOCALIZATION_LINKS_H
#define MUSTER_LOCALIZATION_LINKS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/hostlist.h"
#include "lib/base/name_index.h"
#include "lib/conf/conf.h"
#include "validate/diagnose/observations.h"
#include "validate/report/records.h"

/* Measurements between nodes as numbers: from records to samples. */

/* Where the links come from. All borrowed. */
struct links_source {
    const struct records *records;
    const struct conf *conf; /* nominal speeds of rails */
    const struct hostlist *names;
    const int *leaves;             /* an index of leaf_names for each name, -1: not known */
    const char *const *leaf_names; /* of the leaf switches; NULL: they have none */
};

/* A bandwidth of one direction of a pair, one rail alone or with the others, in 10^6 bit/s. */
struct link_sample {
    double mbps;          /* 0: no connection could be made */
    double expected_mbps; /* what the rail should have */
    /* if none could be made because long packets are lost: the size of one, and of one that
     * arrives */
    unsigned short lost_bytes, path_mtu_bytes;
    bool is_isolated; /* of a retest: alone on the network */
};

struct links {
    size_t node_count, rail_count;
    const char *const *nodes; /* node_count names, the source's */
    struct name_index by_node;
    char **rails;          /* rail_count names */
    double *nominal_mbps;  /* node_count x rail_count, row = node; 0: not known */
    int *leaves;           /* [node_count] indices of leaf_names; NULL: not known */
    char **leaf_names;     /* leaf_count */
    size_t leaf_count;     /* 0: not known */
    bool has_found_leaves; /* from the samples: groups that reach each other well */
    /* node_count x rail_count; NAN: not measured */
    double *figures_mbps; /* the best of the rail in each direction: the lower one */
    double *bests_mbps;   /* ... the higher one */
    double *latencies_us; /* least half round trip */
    double *delays_us;    /* ... without what pauses of the processes may have added */
    /* Sorted by pair, lower node first, then by pair run, then by time. samples: over what the
     * rails should have; measured: as measured. */
    struct diagnose_sample *samples;
    struct link_sample *measured;
    size_t sample_count;
    size_t read_count; /* records that were read */
};

/* Whether the record is a bandwidth or latency of a pair and rail. */
bool links_is_measurement(const struct record *record);

/* Whether both records, of one list, are of the same direction of a pair on the same rail. */
bool links_is_same_transfer(const struct record *a, const struct record *b);

/* Reads the records from index first on; when called again, the records that were added since. The
 * caller zeroes *links before the first call. Records from index retests on are of suspects alone
 * on the network. peers_share: share of what a rail should have that good pairs of a leaf reach.
 * Returns 0, or -1 if memory is out. Call links_clear() in both cases. O(records). */
int links_read(const struct links_source *source, size_t first, size_t retests, double peers_share,
               struct links *links);
void links_clear(struct links *links);

/* Returns the index of the rail in rails, or -1 if nothing of it was measured. */
int links_rail(const struct links *links, const char *name);

/* Whether the samples show which leaf switch a node is on: pairs across are slower than those
 * inside. Else nothing can be said of where the nodes are. */
bool links_show_leaves(const struct links *links);

#endif
