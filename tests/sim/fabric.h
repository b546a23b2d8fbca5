/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SIM_FABRIC_H
#define MUSTER_SIM_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A synthetic fabric that shares its capacity among flows: max-min fair, over the NICs, the hosts,
 * the switches' ports and the cables of the uplinks that each flow passes (progressive filling;
 * Bertsekas and Gallager, Data Networks, 6.5.2). It knows nothing of the judge's model. */

enum fabric_kind {
    FABRIC_TREE,  /* all rails of a node on one leaf switch; leaves joined by spines */
    FABRIC_RAILS, /* rail-optimised: a leaf switch and a plane of spines for each rail of a group */
    FABRIC_MESH,  /* a tree's leaves joined directly, each two by a trunk */
};

struct flow {
    int from, to, rail;
    double mbps;    /* the outcome */
    bool is_beside; /* what limits it is a cable that it shares */
};

struct fabric {
    enum fabric_kind kind;
    int nodes, rails, leaf_size, leaves, spines, planes;
    double nic_mbps;
    int *leaf;                          /* [nodes] where its cables really end */
    double *sends, *receives;           /* [nodes x rails] capacity of the NIC and its cable */
    double *host_sends, *host_receives; /* [nodes] of all its NICs together */
    double *port;      /* [leaves x planes] what share of its speed each port of a leaf has */
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

/* oversubscription: what the nodes of a leaf can send over what its uplinks carry. Exits when
 * memory is out. */
void fabric_make(struct fabric *fabric, enum fabric_kind kind, int nodes, int rails, int leaf_size,
                 double nic_mbps, double oversubscription);
void fabric_clear(struct fabric *fabric);

/* Lets the flows run at once. */
void fabric_run(struct fabric *fabric, struct flow *flows, int count);

/* Pseudo-random numbers (splitmix64), even in 0..1, and of a normal distribution. */
uint64_t sim_random(uint64_t *state);
double sim_uniform(uint64_t *state);
double sim_normal(uint64_t *state);
void *sim_allocate(size_t count, size_t size);

#endif
