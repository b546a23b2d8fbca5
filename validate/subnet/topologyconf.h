/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TOPOLOGYCONF_H
#define MUSTER_TOPOLOGYCONF_H

#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"

/* Slurm's topology.conf(5): which nodes are under which leaf switch (topology/tree: SwitchName=
 * Nodes=) or in which block (topology/block: BlockName= Nodes=), and which switches are above which
 * (SwitchName= Switches=). */

struct topology_leaf {
    char *name;
    struct hostlist nodes;
    int line; /* of the file where it stands, 0: it is not from a file */
};

/* A switch above others. */
struct topology_switch {
    char *name;
    struct hostlist below; /* names of leaves and switches */
    int line;
};

struct topology_conf {
    char path[256];
    struct topology_leaf *leaves; /* in the order of the file */
    size_t count;
    struct topology_switch *switches; /* those above, likewise */
    size_t switch_count;
};

/* Reads the file as Slurm does: comments, continued lines, Include. Returns 0; -1 with err
 * "PATH:LINE: ..." and conf empty. Release with topology_conf_clear(). */
int topology_conf_read(const char *path, struct topology_conf *conf, struct error *err);
void topology_conf_clear(struct topology_conf *conf);

/* The place of the leaf of that node, the first one of several, -1. O(nodes). */
int topology_conf_leaf(const struct topology_conf *conf, const char *node);

/* "topology.conf line 3". */
const char *topology_conf_place(const struct topology_conf *conf, const struct topology_leaf *leaf,
                                char *text, size_t size);

#endif
