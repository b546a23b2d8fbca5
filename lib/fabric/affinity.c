/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fabric/affinity.h"
#include "lib/fabric/affinity-share.h"

#include <string.h>

static const char *const level_names[] = {
    [AFFINITY_SAME] = "SAME", [AFFINITY_PIX] = "PIX",   [AFFINITY_PXB] = "PXB",
    [AFFINITY_PHB] = "PHB",   [AFFINITY_NODE] = "NODE", [AFFINITY_SYS] = "SYS",
};

const char *affinity_level_name(enum affinity_level level)
{
    return (unsigned)level < AFFINITY_UNKNOWN ? level_names[level] : "unknown";
}

/* The distance of two devices. */
struct distance {
    enum affinity_level level;
    size_t common;  /* number of parts that their paths share: the more, the lower the switch */
    bool is_coarse; /* they may be nearer than level */
};

static size_t count_parts(const char *path)
{
    size_t count = path[0] != '\0';

    for (; *path; path++)
        count += *path == '/';
    return count;
}

/* Returns the number of leading parts that two paths share. */
static size_t common_parts(const char *a, const char *b)
{
    size_t count = 0;

    while (*a && *b) {
        size_t length = strcspn(a, "/");

        if (strcspn(b, "/") != length || strncmp(a, b, length) != 0)
            break;
        count++;
        a += length + (a[length] == '/');
        b += length + (b[length] == '/');
    }
    return count;
}

static bool knows_numa(const struct location *a, const struct location *b)
{
    return a->numa_node >= 0 && b->numa_node >= 0;
}

static enum affinity_level level_by_numa(const struct location *a, const struct location *b)
{
    if (!knows_numa(a, b))
        return AFFINITY_UNKNOWN;
    return a->numa_node == b->numa_node ? AFFINITY_NODE : AFFINITY_SYS;
}

/* A PCIe switch is two parts of a path: its upstream port, and a downstream port on its internal
 * bus. Below an upstream port that two devices share, the path to each has one bridge, and two more
 * for each further switch. A PCIe port has one device below it: two different devices side by side
 * are on a conventional bus, as in virtual machines. */
static enum affinity_level level_by_path(const struct location *a, const struct location *b,
                                         size_t common)
{
    size_t below_a = count_parts(a->path) - common, below_b = count_parts(b->path) - common;

    if (below_a <= 1 && below_b <= 1 && (common == 1 || !location_is_same_device(a->pci, b->pci)))
        return knows_numa(a, b) ? AFFINITY_PHB : AFFINITY_UNKNOWN;
    if (common == 1)
        return AFFINITY_PHB;
    return below_a <= 2 && below_b <= 2 ? AFFINITY_PIX : AFFINITY_PXB;
}

static struct distance distance_of_locations(const struct location *a, const struct location *b)
{
    struct distance distance = {.common = common_parts(a->path, b->path)};

    if (a->pci[0] && strcmp(a->pci, b->pci) == 0)
        distance.level = AFFINITY_SAME;
    else if (distance.common > 0)
        distance.level = level_by_path(a, b, distance.common);
    else
        distance.level = level_by_numa(a, b);
    distance.is_coarse = distance.level == AFFINITY_NODE && !(a->path[0] && b->path[0]);
    return distance;
}

enum affinity_level affinity_between(const struct location *a, const struct location *b)
{
    return distance_of_locations(a, b).level;
}

/* Returns distance_of_locations(), corrected by facts about the whole node. */
static struct distance distance_on_node(const struct inventory *inventory, const struct location *a,
                                        const struct location *b)
{
    struct distance distance = distance_of_locations(a, b);

    if (inventory->is_virtual_machine &&
        (distance.level == AFFINITY_PHB || distance.level == AFFINITY_NODE)) {
        distance.is_coarse = true;
        if (inventory->numa_node_count <= 1 || !knows_numa(a, b))
            distance.level = AFFINITY_UNKNOWN;
    } else if (!inventory->is_virtual_machine && distance.level == AFFINITY_UNKNOWN &&
               inventory->numa_node_count == 1 && a->pci[0] && b->pci[0] && distance.common == 0) {
        distance.level = AFFINITY_NODE;
        distance.is_coarse = !(a->path[0] && b->path[0]);
    }
    return distance;
}

static int is_farther(struct distance a, struct distance b)
{
    if (a.level != b.level)
        return a.level > b.level;
    return a.level == AFFINITY_PXB && a.common < b.common;
}

/* Calls visit for the rail's location, or for the location of each member of a bond. Returns the
 * farthest result; it is coarse if one result is. */
static struct distance farthest(const struct inventory *inventory, const struct rail *rail,
                                struct distance (*visit)(const struct inventory *,
                                                         const struct location *, const void *),
                                const void *context)
{
    const struct location *location = rail_location(rail);
    struct distance worst = {.level = AFFINITY_SAME}, found;
    size_t members = 0;

    if (location->pci[0] || location->numa_node >= 0 || !rail->nic)
        return visit(inventory, location, context);
    for (size_t i = 0; i < inventory->nic_count; i++) {
        const struct nic *member = &inventory->nics[i];

        if (strcmp(member->master, rail->nic->name) != 0)
            continue;
        found = visit(inventory, &member->location, context);
        found.is_coarse = found.is_coarse || worst.is_coarse;
        if (members++ == 0 || is_farther(found, worst))
            worst = found;
        else
            worst.is_coarse = found.is_coarse;
    }
    return members > 0 ? worst : visit(inventory, location, context);
}

static struct distance visit_location(const struct inventory *inventory,
                                      const struct location *location, const void *other)
{
    return distance_on_node(inventory, location, other);
}

static struct distance visit_rail(const struct inventory *inventory,
                                  const struct location *location, const void *rail)
{
    return farthest(inventory, rail, visit_location, location);
}

/* Returns whether one of the rails is a virtual function, and both are of one NIC. Virtual
 * functions are numbered through the slots of their NIC's bus. */
static bool is_same_nic(const struct rail *a, const struct rail *b)
{
    const char *one = rail_location(a)->path, *other = rail_location(b)->path;
    size_t parts = count_parts(one);

    return (rail_is_virtual(a) || rail_is_virtual(b)) && parts > 2 && parts == count_parts(other) &&
           common_parts(one, other) == parts - 1;
}

enum affinity_level affinity_of_rails(const struct inventory *inventory, const struct rail *a,
                                      const struct rail *b)
{
    enum affinity_level level = farthest(inventory, a, visit_rail, b).level;

    return level != AFFINITY_SAME && is_same_nic(a, b) ? AFFINITY_PIX : level;
}

enum affinity_level affinity_of_gpus(const struct inventory *inventory, const struct gpu *a,
                                     const struct gpu *b)
{
    return distance_on_node(inventory, &a->location, &b->location).level;
}

/* Marks the nearest of the usable rails: these can serve the GPU. */
static void find_nearest(const struct inventory *inventory, const struct fabric *fabric, size_t gpu,
                         struct affinity *affinity)
{
    struct distance row[INVENTORY_NICS], *nearest = NULL;
    bool is_unknown = false;

    for (size_t i = 0; i < affinity->rail_count; i++) {
        row[i] =
            farthest(inventory, &fabric->rails[i], visit_location, &inventory->gpus[gpu].location);
        affinity->level[gpu][i] = (unsigned char)row[i].level;
        if (!affinity->is_usable[i])
            continue;
        is_unknown = is_unknown || row[i].level == AFFINITY_UNKNOWN;
        if (!nearest || is_farther(*nearest, row[i]))
            nearest = &row[i];
    }
    if (!nearest || nearest->level == AFFINITY_UNKNOWN ||
        (is_unknown && nearest->level > AFFINITY_PIX))
        return;
    affinity->is_known[gpu] = true;
    for (size_t i = 0; i < affinity->rail_count; i++) {
        affinity->serves[gpu][i] = affinity->is_usable[i] && !is_farther(row[i], *nearest);
        if (affinity->serves[gpu][i] && row[i].is_coarse)
            affinity->is_coarse[gpu] = true;
    }
}

void affinity_make(const struct inventory *inventory, const struct fabric *fabric,
                   const bool *usable, struct affinity *affinity)
{
    memset(affinity, 0, sizeof *affinity);
    affinity->gpu_count = inventory->gpu_count;
    affinity->rail_count = fabric->rail_count;
    for (size_t i = 0; i < fabric->rail_count; i++)
        affinity->is_usable[i] = rail_is_up(&fabric->rails[i]) && (!usable || usable[i]);
    for (size_t i = 0; i < inventory->gpu_count; i++)
        find_nearest(inventory, fabric, i, affinity);
    affinity_share(inventory, fabric, affinity);
}

size_t affinity_rails(const struct affinity *affinity, const size_t *gpus, size_t gpu_count,
                      size_t *rails)
{
    size_t count = 0;

    for (size_t i = 0; gpus && i < gpu_count; i++)
        if (gpus[i] >= affinity->gpu_count || !affinity->is_known[gpus[i]])
            return 0;
    for (size_t i = 0; i < affinity->rail_count; i++) {
        bool serves = !gpus && affinity->is_usable[i];

        for (size_t j = 0; gpus && j < gpu_count; j++)
            serves = serves || affinity->serves[gpus[j]][i];
        if (serves)
            rails[count++] = i;
    }
    return count;
}
