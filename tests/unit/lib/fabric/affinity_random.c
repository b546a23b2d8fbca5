/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of affinity on any node: random trees of PCI paths with random ports down, checked
 * against simple definitions in this file. */
#include "lib/fabric/affinity.h"
#include "tests/unit/tap.h"

#include <stdio.h>
#include <string.h>

enum { NODES = 400, GPUS_MAX = 16, RAILS_MAX = 32 };

static struct inventory node, shuffled;
static struct fabric fabric, shuffled_fabric;
static struct affinity affinity, again;
static unsigned long long seed;

static unsigned draw(unsigned below)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL; /* Knuth's MMIX */
    return (unsigned)(seed >> 33) % below;
}

/* Returns a random location in a tree of two sockets with two host bridges each and two levels of
 * switches below. The device number of the function is unique. */
static struct location draw_location(unsigned number, bool has_paths, bool has_numa)
{
    struct location location = {.numa_node = -1};
    unsigned bridge = draw(4), depth = draw(4), low = draw(2);
    char *path = location.path;
    int length = sprintf(path, "pci0000:%x0", bridge);

    if (depth > 0)
        length += sprintf(path + length, "/0000:%x0:%02x.0", bridge, 1 + draw(2));
    if (depth > 1)
        length += sprintf(path + length, "/0000:%x1:00.0/0000:%x2:%02x.0", bridge, bridge, low);
    if (depth > 2)
        length += sprintf(path + length, "/0000:%x%x:00.0/0000:%x%x:%02x.0", bridge, 3 + low * 4,
                          bridge, 4 + low * 4, draw(2));
    sprintf(location.pci, "0000:%x%c:%02x.0", bridge, '8', number);
    sprintf(path + length, "/%s", location.pci);
    location.numa_node = has_numa ? (int)(bridge / 2) : -1;
    if (!has_paths)
        location.path[0] = '\0';
    return location;
}

static void make_node(void)
{
    bool has_paths = draw(8) > 0, has_numa = draw(8) > 0;

    memset(&node, 0, sizeof node);
    memset(&fabric, 0, sizeof fabric);
    node.numa_node_count = has_numa ? 2 : (int)draw(2);
    node.is_virtual_machine = draw(4) == 0;
    node.gpu_count = 1 + draw(GPUS_MAX);
    node.rdma_count = fabric.rail_count = 1 + draw(RAILS_MAX);
    for (size_t i = 0; i < node.gpu_count; i++)
        node.gpus[i].location = draw_location((unsigned)i, has_paths, has_numa);
    for (size_t i = 0; i < node.rdma_count; i++) {
        node.rdma[i].location =
            draw_location((unsigned)(GPUS_MAX + i), has_paths, has_numa && draw(40) > 0);
        strcpy(node.rdma[i].state, draw(6) > 0 ? "ACTIVE" : "DOWN");
        fabric.rails[i].port = &node.rdma[i];
        sprintf(fabric.rails[i].name, "mlx5_%zu:1", i);
    }
}

static size_t common_length(const char *a, const char *b)
{
    size_t length = 0, whole = 0;

    for (; a[length] && a[length] == b[length]; length++)
        if (a[length] == '/')
            whole = length;
    return whole;
}

/* Returns the distance of a GPU and a rail; smaller is nearer. */
static long distance(size_t gpu, size_t rail)
{
    enum affinity_level level = affinity.level[gpu][rail];
    size_t shared =
        common_length(node.gpus[gpu].location.path, fabric.rails[rail].port->location.path);

    return (long)level * 1000 - (level == AFFINITY_PXB ? (long)shared : 0);
}

static bool is_nearest(size_t gpu, size_t rail)
{
    long least = 1000000;

    for (size_t i = 0; i < fabric.rail_count; i++)
        if (affinity.is_usable[i] && distance(gpu, i) < least)
            least = distance(gpu, i);
    return affinity.is_usable[rail] && distance(gpu, rail) == least;
}

static bool is_shared(size_t gpu)
{
    return affinity.is_known[gpu] && !affinity.is_coarse[gpu];
}

/* Finds a rail for the GPU by augmenting paths, so that no rail serves more than load_max GPUs.
 * Returns whether there is one. */
static bool assign_rail(size_t gpu, int load_max, bool seen[], int loads[], int rails[])
{
    for (size_t rail = 0; rail < fabric.rail_count; rail++) {
        if (seen[rail] || !is_nearest(gpu, rail))
            continue;
        seen[rail] = true;
        if (loads[rail] < load_max) {
            loads[rail]++;
            rails[gpu] = (int)rail;
            return true;
        }
        for (size_t other = 0; other < node.gpu_count; other++) {
            if (rails[other] == (int)rail && assign_rail(other, load_max, seen, loads, rails)) {
                rails[gpu] = (int)rail;
                return true;
            }
        }
    }
    return false;
}

static int min_load(void)
{
    for (int load_max = 1;; load_max++) {
        int loads[RAILS_MAX] = {0}, rails[GPUS_MAX];
        bool fits = true;

        memset(rails, -1, sizeof rails);
        for (size_t i = 0; i < node.gpu_count && fits; i++) {
            bool seen[RAILS_MAX] = {false};

            fits = !is_shared(i) || assign_rail(i, load_max, seen, loads, rails);
        }
        if (fits)
            return load_max;
    }
}

static size_t rails_of(size_t gpu)
{
    size_t count = 0;

    for (size_t i = 0; i < fabric.rail_count; i++)
        count += affinity.serves[gpu][i];
    return count;
}

/* Each check returns the first error, or NULL. */

static const char *levels_are_symmetric(void)
{
    for (size_t i = 0; i < fabric.rail_count; i++) {
        const struct location *a = &fabric.rails[i].port->location;

        for (size_t j = 0; j < fabric.rail_count; j++) {
            const struct location *b = &fabric.rails[j].port->location;

            if (affinity_between(a, b) != affinity_between(b, a) ||
                affinity_of_rails(&node, &fabric.rails[i], &fabric.rails[j]) !=
                    affinity_of_rails(&node, &fabric.rails[j], &fabric.rails[i]))
                return "a level depends on the direction";
        }
    }
    return NULL;
}

static const char *nearest_serve(void)
{
    for (size_t i = 0; i < node.gpu_count; i++) {
        bool has_known = false, has_unknown = false, has_near = false;

        for (size_t j = 0; j < fabric.rail_count; j++) {
            enum affinity_level level = affinity.level[i][j];

            if (affinity.is_usable[j] != (strcmp(node.rdma[j].state, "ACTIVE") == 0))
                return "a rail that is down is used, or one that is up is not";
            if (affinity.serves[i][j] && !is_nearest(i, j))
                return "a rail that is not the nearest serves a GPU";
            if (affinity.is_usable[j]) {
                has_known = has_known || level != AFFINITY_UNKNOWN;
                has_unknown = has_unknown || level == AFFINITY_UNKNOWN;
                has_near = has_near || level <= AFFINITY_PIX;
            }
        }
        if (affinity.is_known[i] != (has_near || (has_known && !has_unknown)))
            return "is_known differs from whether the nearest rails of a GPU can be known";
        if (affinity.is_known[i] != (rails_of(i) > 0))
            return "a GPU is known without a rail, or has a rail and is not known";
    }
    return NULL;
}

static const char *loads_are_minimal(void)
{
    int least = min_load();

    for (size_t j = 0; j < fabric.rail_count; j++) {
        int load = 0, wanted = 0;

        for (size_t i = 0; i < node.gpu_count; i++) {
            if (!is_shared(i))
                continue;
            load += affinity.serves[i][j];
            wanted += is_nearest(i, j);
        }
        if (load > least)
            return "a rail serves more GPUs than it must";
        if (wanted > 0 && load == 0)
            return "a rail that is a GPU's nearest serves none";
    }
    return NULL;
}

static const char *equal_gpus_are_balanced(void)
{
    for (size_t i = 0; i < node.gpu_count; i++) {
        for (size_t j = 0; j < node.gpu_count; j++) {
            bool are_equal = is_shared(i) && is_shared(j);

            for (size_t k = 0; k < fabric.rail_count && are_equal; k++)
                are_equal = is_nearest(i, k) == is_nearest(j, k);
            if (are_equal && rails_of(i) > rails_of(j) + 1)
                return "of two GPUs with the same choice one has two rails more";
        }
    }
    return NULL;
}

/* Compares with the same node with its devices in another order. */
static const char *order_does_not_matter(void)
{
    size_t gpus[GPUS_MAX], rails[RAILS_MAX];

    shuffled = node;
    shuffled_fabric = fabric;
    for (size_t i = 0; i < node.gpu_count; i++)
        gpus[i] = i;
    for (size_t i = 0; i < fabric.rail_count; i++)
        rails[i] = i;
    for (size_t i = node.gpu_count; i > 1; i--) {
        size_t with = draw((unsigned)i), saved = gpus[i - 1];

        gpus[i - 1] = gpus[with];
        gpus[with] = saved;
    }
    for (size_t i = fabric.rail_count; i > 1; i--) {
        size_t with = draw((unsigned)i), saved = rails[i - 1];

        rails[i - 1] = rails[with];
        rails[with] = saved;
    }
    for (size_t i = 0; i < node.gpu_count; i++)
        shuffled.gpus[i] = node.gpus[gpus[i]];
    for (size_t i = 0; i < fabric.rail_count; i++)
        shuffled_fabric.rails[i] = fabric.rails[rails[i]];
    affinity_make(&shuffled, &shuffled_fabric, NULL, &again);
    for (size_t i = 0; i < node.gpu_count; i++)
        for (size_t j = 0; j < fabric.rail_count; j++)
            if (again.serves[i][j] != affinity.serves[gpus[i]][rails[j]])
                return "the result depends on the order of devices";
    return NULL;
}

int main(void)
{
    static const struct {
        const char *(*check)(void);
        const char *what;
    } checks[] = {
        {levels_are_symmetric, "levels are the same in both directions"},
        {nearest_serve, "every known GPU is served by its nearest rails that are up"},
        {loads_are_minimal, "no rail serves more GPUs than necessary, and no nearest rail is idle"},
        {equal_gpus_are_balanced,
         "GPUs with the same nearest rails have the same number of rails, plus or minus one"},
        {order_does_not_matter, "the order of devices does not matter"},
    };

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        const char *wrong = NULL;
        unsigned number = 0, known = 0, coarse = 0, gpus = 0;

        for (; number < NODES && !wrong; number++) {
            seed = number;
            make_node();
            affinity_make(&node, &fabric, NULL, &affinity);
            wrong = checks[i].check();
            gpus += (unsigned)node.gpu_count;
            for (size_t j = 0; j < node.gpu_count; j++) {
                known += affinity.is_known[j];
                coarse += affinity.is_coarse[j];
            }
        }
        ok(!wrong, "%s: %u nodes, %u GPUs, %u known, %u of them coarse", checks[i].what, number,
           gpus, known, coarse);
        if (wrong)
            tap_diag("node %u: %s", number - 1, wrong);
    }
    return tap_done();
}
