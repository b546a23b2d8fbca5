/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/fabric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/splitmix.h"

enum { USES = 8 };

uint64_t sim_random(uint64_t *state)
{
    return splitmix_next(state);
}

double sim_uniform(uint64_t *state)
{
    return (double)(sim_random(state) >> 11) * 0x1p-53;
}

double sim_normal(uint64_t *state)
{
    double a = sim_uniform(state), b = sim_uniform(state);

    return sqrt(-2 * log(1 - a)) * cos(2 * M_PI * b);
}

void *sim_allocate(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);

    if (!memory) {
        fprintf(stderr, "sim: out of memory\n");
        exit(3);
    }
    return memory;
}

static double *filled(size_t count, double value)
{
    double *numbers = sim_allocate(count, sizeof *numbers);

    for (size_t i = 0; i < count; i++)
        numbers[i] = value;
    return numbers;
}

void fabric_make(struct fabric *fabric, enum fabric_kind kind, int nodes, int rails, int leaf_size,
                 double nic_mbps, double oversubscription)
{
    size_t n = (size_t)nodes, ends = n * (size_t)rails, cables;
    double cable_mbps;

    *fabric = (struct fabric){.kind = kind,
                              .nodes = nodes,
                              .rails = rails,
                              .leaf_size = leaf_size,
                              .leaves = (nodes + leaf_size - 1) / leaf_size,
                              .planes = kind == FABRIC_RAILS ? rails : 1,
                              .nic_mbps = nic_mbps};
    /* An uplink cable of a tree is as fast as all rails of a node, that of a rail plane as one NIC.
     */
    fabric->spines = kind == FABRIC_MESH ? fabric->leaves : (int)ceil(leaf_size / oversubscription);
    cable_mbps = nic_mbps * (kind == FABRIC_RAILS ? 1 : rails);
    if (kind == FABRIC_MESH)
        cable_mbps *= leaf_size / oversubscription;
    cables = (size_t)fabric->leaves * (size_t)fabric->planes * (size_t)fabric->spines;
    fabric->leaf = sim_allocate(n, sizeof *fabric->leaf);
    for (int i = 0; i < nodes; i++)
        fabric->leaf[i] = i / leaf_size;
    fabric->sends = filled(ends, nic_mbps);
    fabric->receives = filled(ends, nic_mbps);
    fabric->host_sends = filled(n, nic_mbps * rails);
    fabric->host_receives = filled(n, nic_mbps * rails);
    fabric->port = filled((size_t)fabric->leaves * (size_t)fabric->planes, 1);
    fabric->up = filled(cables, cable_mbps);
    fabric->down = filled(cables, cable_mbps);
    fabric->bad_pairs = sim_allocate(n, sizeof *fabric->bad_pairs);
    fabric->resource_count = (int)(2 * ends + 2 * n + 2 * cables + n);
    fabric->left = sim_allocate((size_t)fabric->resource_count, sizeof *fabric->left);
    fabric->users = sim_allocate((size_t)fabric->resource_count, sizeof *fabric->users);
    fabric->touched = sim_allocate((size_t)fabric->resource_count, sizeof *fabric->touched);
    fabric->uses = sim_allocate(n * (size_t)rails * USES, sizeof *fabric->uses);
    fabric->is_done = sim_allocate(n * (size_t)rails, 1);
}

void fabric_clear(struct fabric *fabric)
{
    free(fabric->leaf);
    free(fabric->sends);
    free(fabric->receives);
    free(fabric->host_sends);
    free(fabric->host_receives);
    free(fabric->port);
    free(fabric->up);
    free(fabric->down);
    free(fabric->bad_pairs);
    free(fabric->left);
    free(fabric->users);
    free(fabric->touched);
    free(fabric->uses);
    free(fabric->is_done);
}

/* Adds a resource with that capacity to those that the flow uses. */
static void use(struct fabric *fabric, int *uses, int *count, int resource, double capacity)
{
    if (fabric->users[resource]++ == 0) {
        fabric->left[resource] = capacity;
        fabric->touched[fabric->touched_count++] = resource;
    }
    uses[(*count)++] = resource;
}

/* Equal-cost paths: a hash of the flow's ends selects its cable. */
static int spine_of(const struct fabric *fabric, const struct flow *flow)
{
    uint64_t key = ((uint64_t)flow->from << 40) ^ ((uint64_t)flow->to << 16) ^ (uint64_t)flow->rail;

    return (int)(sim_random(&key) % (uint64_t)fabric->spines);
}

static void use_path(struct fabric *fabric, const struct flow *flow, int *uses)
{
    int ends = fabric->nodes * fabric->rails, count = 0;
    int from = flow->from * fabric->rails + flow->rail, to = flow->to * fabric->rails + flow->rail;
    int plane = fabric->planes > 1 ? flow->rail : 0;
    int a = fabric->leaf[flow->from], b = fabric->leaf[flow->to];
    int cables = fabric->leaves * fabric->planes * fabric->spines,
        base = 2 * ends + 2 * fabric->nodes;
    double port_a = fabric->port[a * fabric->planes + plane];
    double port_b = fabric->port[b * fabric->planes + plane];

    for (int i = 0; i < USES; i++)
        uses[i] = -1;
    use(fabric, uses, &count, from, fmin(fabric->sends[from], port_a * fabric->nic_mbps));
    use(fabric, uses, &count, ends + to, fmin(fabric->receives[to], port_b * fabric->nic_mbps));
    use(fabric, uses, &count, 2 * ends + flow->from, fabric->host_sends[flow->from]);
    use(fabric, uses, &count, 2 * ends + fabric->nodes + flow->to, fabric->host_receives[flow->to]);
    if (a != b) {
        int spine = fabric->kind == FABRIC_MESH ? b : spine_of(fabric, flow);
        int up = (a * fabric->planes + plane) * fabric->spines + spine;
        int down = (b * fabric->planes + plane) * fabric->spines +
                   (fabric->kind == FABRIC_MESH ? a : spine);

        use(fabric, uses, &count, base + up, port_a * fabric->up[up]);
        use(fabric, uses, &count, base + cables + down, port_b * fabric->down[down]);
    }
    for (int i = 0; i < fabric->bad_pair_count; i++) {
        const struct bad_pair *bad = &fabric->bad_pairs[i];

        if (bad->from == flow->from && bad->to == flow->to && bad->rail == flow->rail)
            use(fabric, uses, &count, base + 2 * cables + i, bad->mbps);
    }
}

/* A flow gets an equal part of its scarcest resource. If that resource is the scarcest of all its
 * users, the flow is decided; the others continue with what is left. */
void fabric_run(struct fabric *fabric, struct flow *flows, int count)
{
    int open = count, first_cable = 2 * fabric->nodes * (fabric->rails + 1);

    fabric->touched_count = 0;
    memset(fabric->is_done, 0, (size_t)count);
    for (int i = 0; i < count; i++)
        use_path(fabric, &flows[i], &fabric->uses[(size_t)i * USES]);
    while (open > 0) {
        double least_mbps = INFINITY;
        int before = open;

        /* Fair shares only grow as flows are decided, so that all flows at the least share of
         * their neighborhood could be decided at once; those at the least of all always can. */
        for (int t = 0; t < fabric->touched_count; t++) {
            int resource = fabric->touched[t];

            if (fabric->users[resource] > 0)
                least_mbps = fmin(least_mbps, fabric->left[resource] / fabric->users[resource]);
        }
        for (int i = 0; i < count; i++) {
            const int *uses = &fabric->uses[(size_t)i * USES];
            double share = INFINITY;
            int limit = 0;

            if (fabric->is_done[i])
                continue;
            for (int k = 0; k < USES && uses[k] >= 0; k++)
                if (fabric->left[uses[k]] / fabric->users[uses[k]] < share) {
                    limit = uses[k];
                    share = fabric->left[limit] / fabric->users[limit];
                }
            if (share > least_mbps * (1 + 1e-9))
                continue;
            flows[i].mbps = least_mbps;
            flows[i].is_beside = limit >= first_cable && fabric->users[limit] > 1;
            fabric->is_done[i] = 2;
            open--;
        }
        for (int i = 0; i < count; i++)
            if (fabric->is_done[i] == 2) {
                const int *uses = &fabric->uses[(size_t)i * USES];

                fabric->is_done[i] = 1;
                for (int k = 0; k < USES && uses[k] >= 0; k++) {
                    fabric->left[uses[k]] -= flows[i].mbps;
                    fabric->users[uses[k]]--;
                }
            }
        if (open == before)
            break;
    }
    for (int t = 0; t < fabric->touched_count; t++)
        fabric->users[fabric->touched[t]] = 0;
}
