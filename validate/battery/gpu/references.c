/* SPDX-License-Identifier: Apache-2.0 */
/* What the figures of devices and paths should be. */
#include "validate/battery/gpu/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/statistics.h"
#include "lib/constants/battery_constants.h"

/* ---------------------------------------------------------------- paths and pairs */

const struct gpu_path *gpu_path_find(const struct gpu_device *device, int to)
{
    for (int i = 0; i < device->path_count; i++)
        if (device->paths[i].to == to)
            return &device->paths[i];
    return NULL;
}

struct gpu_path *gpu_path_make(struct gpu_device *device, int to)
{
    const struct gpu_path *found = gpu_path_find(device, to);

    if (found)
        return &device->paths[found - device->paths];
    if (device->path_count == GPU_PEERS_MOST)
        return NULL;
    device->paths[device->path_count] = (struct gpu_path){.to = to};
    return &device->paths[device->path_count++];
}

void gpu_path_forget(struct gpu_device *device, int to)
{
    int kept = 0;

    for (int i = 0; i < device->path_count; i++)
        if (device->paths[i].to != to)
            device->paths[kept++] = device->paths[i];
    device->path_count = kept;
}

const struct gpu_pair *gpu_pair_find(const struct gpu_device *device, int with)
{
    for (int i = 0; i < device->pair_count; i++)
        if (device->pairs[i].with == with)
            return &device->pairs[i];
    return NULL;
}

void gpu_pair_put(struct gpu_device *device, const struct gpu_pair *pair)
{
    const struct gpu_pair *found = gpu_pair_find(device, pair->with);

    if (found)
        device->pairs[found - device->pairs] = *pair;
    else if (device->pair_count < GPU_PEERS_MOST)
        device->pairs[device->pair_count++] = *pair;
}

/* ---------------------------------------------------------------- references */

double gpu_middle(const double *samples, size_t count)
{
    if (count == 2)
        return fmax(samples[0], samples[1]);
    return count > 2 ? statistics_median(samples, count) : NAN;
}

bool gpu_is_same_model(const struct gpu_device *a, const struct gpu_device *b)
{
    int small = a->multiprocessors, large = b->multiprocessors;

    if (small > large) {
        small = b->multiprocessors;
        large = a->multiprocessors;
    }
    return strcmp(a->model, b->model) == 0 && 3 * small >= 2 * large;
}

/* Returns what the figure should be. */
static double reference_of(const struct gpu_node *nodes, size_t count,
                           const struct gpu_device *model, enum figure figure)
{
    double *samples, reference;
    size_t most = 1, found = 0;

    for (size_t i = 0; i < count; i++)
        most += (size_t)nodes[i].count;
    samples = malloc(most * sizeof *samples);
    for (size_t i = 0; samples && i < count; i++)
        for (int k = 0; k < nodes[i].count; k++)
            if (nodes[i].devices[k].best[figure] > 0 &&
                gpu_is_same_model(&nodes[i].devices[k], model))
                samples[found++] = nodes[i].devices[k].best[figure];
    reference = samples ? gpu_middle(samples, found) : NAN;
    free(samples);
    return reference;
}

void gpu_references(const struct gpu_node *nodes, size_t count, const struct gpu_device *model,
                    double references[FIGURES])
{
    for (int figure = 0; figure < FIGURES; figure++)
        references[figure] = reference_of(nodes, count, model, (enum figure)figure);
}

/* Whether two devices of two nodes have the same model and PCI address. A machine of another kind
 * has them at other addresses, and on other paths. */
static bool is_same_position(const struct gpu_device *a, const struct gpu_device *b)
{
    return gpu_is_same_model(a, b) && strcmp(a->pci, b->pci) == 0;
}

bool gpu_is_same_node(const struct gpu_node *a, const struct gpu_node *b)
{
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (!is_same_position(&a->devices[i], &b->devices[i]))
            return false;
    return true;
}

static size_t add_pair(const struct gpu_node *node, int from, int to, double *samples, size_t found)
{
    const struct gpu_path *path = gpu_path_find(&node->devices[from], to);

    if (path && path->GBps > 0)
        samples[found++] = path->GBps;
    return found;
}

double gpu_common(const double *samples, size_t count)
{
    double reference = gpu_middle(samples, count);
    size_t near = 0;

    for (size_t i = 0; i < count; i++)
        near += fabs(samples[i] - reference) <= 0.2 * reference;
    return count == 2 || 4 * near >= 3 * count ? reference : NAN;
}

/* Whether two paths of a node are both within a GPU, both within a NUMA node, or neither: paths
 * within are faster by design. */
static bool is_same_kind(const struct gpu_device *devices, int from, int to, int other_from,
                         int other_to)
{
    bool is_one_gpu = devices[from].part == devices[to].part;
    bool is_one_numa = devices[from].numa_node == devices[to].numa_node;

    return is_one_gpu == (devices[other_from].part == devices[other_to].part) &&
           is_one_numa == (devices[other_from].numa_node == devices[other_to].numa_node);
}

double gpu_peer_reference_of_nodes(const struct gpu_node *nodes, size_t count, size_t node,
                                   int from, int to)
{
    double *samples = malloc((2 * count + 1) * sizeof *samples), reference;
    const struct gpu_device *own = nodes[node].devices;
    size_t found = 0;

    for (size_t i = 0; samples && i < count; i++)
        if (nodes[i].count == nodes[node].count &&
            is_same_position(&nodes[i].devices[from], &own[from]) &&
            is_same_position(&nodes[i].devices[to], &own[to])) {
            found = add_pair(&nodes[i], from, to, samples, found);
            found = add_pair(&nodes[i], to, from, samples, found);
        }
    reference = found >= 6 ? gpu_middle(samples, found) : NAN;
    free(samples);
    return reference;
}

/* Returns the reference by the paths of the same kind on the same node. */
static double reference_of_own(const struct gpu_node *node, int from, int to)
{
    size_t most = (size_t)node->count * GPU_PEERS_MOST, found = 0;
    double *samples = malloc((most + 1) * sizeof *samples), reference;

    for (int i = 0; samples && i < node->count; i++)
        for (int k = 0; k < node->devices[i].path_count; k++)
            if (is_same_kind(node->devices, from, to, i, node->devices[i].paths[k].to))
                found = add_pair(node, i, node->devices[i].paths[k].to, samples, found);
    reference = samples ? gpu_common(samples, found) : NAN;
    free(samples);
    return reference;
}

double gpu_peer_reference(const struct gpu_node *nodes, size_t count, size_t node, int from, int to)
{
    double reference = gpu_peer_reference_of_nodes(nodes, count, node, from, to);

    return isfinite(reference) ? reference : reference_of_own(&nodes[node], from, to);
}

bool gpu_is_low(const struct gpu_device *device, enum figure figure, double reference)
{
    const double *least = figure_specs[figure].least;

    return device->best[figure] > 0 && least && device->best[figure] < *least * reference;
}

bool gpu_is_nic_low(const struct gpu_device *device, enum figure figure)
{
    return device->is_nic_near && figure != FIGURE_NIC_LOOPBACK && device->best[figure] > 0 &&
           device->best[figure] < GPU_NIC_LEAST_SHARE * device->best[FIGURE_NIC_LOOPBACK];
}

bool gpu_is_peer_low(const struct gpu_node *nodes, size_t count, size_t node, int from, int to)
{
    const struct gpu_path *path = gpu_path_find(&nodes[node].devices[from], to);

    return path && path->GBps > 0 &&
           path->GBps < GPU_PEER_LEAST_SHARE * gpu_peer_reference(nodes, count, node, from, to);
}
