/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TOPOLOGYCONF_H
#define MUSTER_TOPOLOGYCONF_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"
#include "lib/base/text.h"

/* Slurm's topology.conf(5): which nodes are under which leaf switch (topology/tree: SwitchName=
 * Nodes=) or in which block (topology/block: BlockName= Nodes=), and which switches are above which
 * (SwitchName= Switches=). */

struct topology_place {
    char *file; /* the file of an Include; NULL: the path of conf */
    int line;   /* 0: not from a file */
};

struct topology_switch {
    char *name;
    struct hostlist below; /* nodes of a leaf, else names of the leaves and switches below */
    struct topology_place at;
};

struct topology_conf {
    char path[256];
    struct topology_switch *leaves; /* in the order of the file */
    size_t count;
    struct topology_switch *switches; /* above leaves, in the order of the file */
    size_t switch_count;
};

/* Reads the file as Slurm does: comments, continued lines, Include. A file whose name ends in .yaml
 * is read as topology.yaml(5) of Slurm 25.05 and later. Returns 0, or -1 with err "PATH:LINE: ..."
 * and conf empty. Release with topology_conf_clear(). */
int topology_conf_read(const char *path, struct topology_conf *conf, struct error *err);
void topology_conf_clear(struct topology_conf *conf);

/* Sets path to the file in Slurm's directory that Slurm reads, topology.yaml or else topology.conf,
 * and returns it; NULL if there is none. */
const char *topology_conf_find(const char *directory, char *path, size_t size);
bool topology_conf_is_yaml(const char *path);

/* For the readers: adds a leaf or switch. below is in Slurm's notation; at.file is copied. Returns
 * 0, or -1 with err. */
int topology_conf_add(struct topology_conf *conf, bool is_leaf, const char *name,
                      struct topology_place at, const char *below, struct error *err);
/* Reads topology.yaml. Of several topologies it uses the first tree or block topology with
 * cluster_default, else the first tree or block topology. */
int topology_conf_read_yaml(const char *path, struct topology_conf *conf, struct error *err);

/* Returns the index of the first leaf that has the node, or -1. O(nodes). */
int topology_conf_leaf(const struct topology_conf *conf, const char *node);
/* Returns the index in switches of the first one above a leaf or switch of that name, or -1. */
int topology_conf_parent(const struct topology_conf *conf, const char *name);

/* Returns "topology.conf line 3". */
struct text_line topology_conf_place(const struct topology_conf *conf,
                                     const struct topology_place *at);

#endif
