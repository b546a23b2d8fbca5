/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SIM_FABRIC_H
#define MUSTER_SIM_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A synthetic fabric. Its flows have max-min fair shares of the NICs, hosts, switch ports and
 * uplink cables that they pass (progressive filling; Bertsekas and Gallager, Data Networks, 6.5.2).
 * It is independent of the diagnosis' model. */

enum fabric_kind {
    FABRIC_TREE,  /* all rails of a node on one leaf switch; leaves joined by spines */
    FABRIC_RAILS, /* rail-optimized: a leaf switch and a plane of spines for each rail of a group */
    FABRIC_MESH,  /* leaves as in a tree, each pair of them joined by a trunk */
};

struct flow {
    int from, to, rail;
    double mbps;    /* the outcome */
    bool is_beside; /* a shared cable limits it */
};

struct fabric {
    enum fabric_kind kind;
    int nodes, rails, leaf_size, leaves, spines, planes;
    double nic_mbps;
    int *leaf;                          /* [nodes] to which the node is really cabled */
    double *sends, *receives;           /* [nodes x rails] capacity of the NIC and its cable */
    double *host_sends, *host_receives; /* [nodes] of all its NICs together */
    double *port;      /* [leaves x planes] share of its speed that each port of a leaf has */
    double *up, *down; /* [leaves x planes x spines] capacity of a cable; mesh: [leaves x leaves] */
    struct bad_pair {
        int from, to, rail;
        double mbps;
    } * bad_pairs;
    int bad_pair_count;
    /* work space */
    int resource_count;
    double *left;
    int *users, *touched;
    int touched_count;
    int *uses; /* [most flows x 8] */
    unsigned char *is_done;
};

/* oversubscription: what the nodes of a leaf can send, divided by what its uplinks carry. Exits if
 * memory is out. */
void fabric_make(struct fabric *fabric, enum fabric_kind kind, int nodes, int rails, int leaf_size,
                 double nic_mbps, double oversubscription);
void fabric_clear(struct fabric *fabric);

/* Sets mbps and is_beside of flows that all run at once. */
void fabric_run(struct fabric *fabric, struct flow *flows, int count);

/* Pseudo-random numbers: splitmix64, uniform in 0..1, standard normal. */
uint64_t sim_random(uint64_t *state);
double sim_uniform(uint64_t *state);
double sim_normal(uint64_t *state);
void *sim_allocate(size_t count, size_t size);

#endif
