/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the levels of affinity with hwloc's PCI tree, for every two functions of every recorded
 * node with PCI paths, and of random nodes. hwloc builds its tree from the bus numbers in the
 * bridges' configuration space and from local_cpus, muster from the directories of sysfs. The test
 * writes the configuration space and the CPUs, which recorded nodes lack. */
#include "lib/base/sysfs.h"
#include "lib/fabric/affinity.h"
#include "lib/node/inventory-parts.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

#include <dirent.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 512, NUMA_NODES = 64 };

struct function {
    struct location location;
    bool is_bridge;
    hwloc_obj_t object;
};

static struct function functions[FUNCTIONS];
static size_t function_count;

/* Returns the bus number of a PCI address: 0x3b for "0000:3b:00.0". */
static unsigned bus_of(const char *pci)
{
    return (unsigned)strtoul(strchr(pci, ':') + 1, NULL, 16);
}

static void read_functions(const char *root)
{
    char **names;
    size_t count = sysfs_names(root, &names, "sys/bus/pci/devices");

    function_count = 0;
    for (size_t i = 0; i < count && function_count < FUNCTIONS; i++) {
        struct function *function = &functions[function_count++];
        char device[SYSFS_PATH];

        snprintf(device, sizeof device, "sys/bus/pci/devices/%s", names[i]);
        location_read(root, device, &function->location);
        function->is_bridge = sysfs_number(root, "%s/class", device) >> 8 == 0x0604;
    }
    sysfs_names_free(names, count);
}

static bool is_below(const struct function *one, const struct function *bridge)
{
    size_t length = strlen(bridge->location.path);

    return strncmp(one->location.path, bridge->location.path, length) == 0 &&
           one->location.path[length] == '/';
}

/* PCI-to-PCI Bridge Architecture Specification 1.2, 3.2: header type 1, bus numbers at 0x18 */
static void write_config(const char *root, const struct function *function)
{
    unsigned char config[64] = {0};
    unsigned secondary = 256, subordinate = 0;
    char path[SYSFS_PATH];

    for (size_t i = 0; function->is_bridge && i < function_count; i++) {
        if (is_below(&functions[i], function)) {
            unsigned bus = bus_of(functions[i].location.pci);

            secondary = bus < secondary ? bus : secondary;
            subordinate = bus > subordinate ? bus : subordinate;
        }
    }
    config[0x0e] = function->is_bridge;
    config[0x18] = (unsigned char)bus_of(function->location.pci);
    config[0x19] = (unsigned char)secondary;
    config[0x1a] = (unsigned char)subordinate;
    snprintf(path, sizeof path, "sys/bus/pci/devices/%s/config", function->location.pci);
    tree_put_bytes(root, path, config, sizeof config);
}

static int numa_of(const struct function *function)
{
    for (size_t i = 0; i < function_count && function->is_bridge; i++)
        if (!functions[i].is_bridge && is_below(&functions[i], function))
            return functions[i].location.numa_node;
    return function->location.numa_node;
}

/* Writes one CPU for each NUMA node. */
static void write_cpus(const char *root)
{
    static const char *const own[] = {"thread_siblings", "core_siblings", "core_cpus",
                                      "package_cpus"};
    char path[SYSFS_PATH], text[64];
    int nodes = 1;

    for (size_t i = 0; i < function_count; i++)
        if (functions[i].location.numa_node >= nodes)
            nodes = functions[i].location.numa_node + 1;
    snprintf(text, sizeof text, "0-%d\n", nodes - 1);
    tree_put(root, "sys/devices/system/cpu/online", text);
    tree_put(root, "sys/devices/system/cpu/possible", text);
    tree_put(root, "sys/devices/system/node/online", text);
    for (int node = 0; node < nodes; node++) {
        snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/topology/physical_package_id",
                 node);
        snprintf(text, sizeof text, "%d\n", node);
        tree_put(root, path, text);
        snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/topology/core_id", node);
        tree_put(root, path, "0\n");
        snprintf(text, sizeof text, "%x\n", 1U << node);
        for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
            snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/topology/%s", node, own[i]);
            tree_put(root, path, text);
        }
        snprintf(path, sizeof path, "sys/devices/system/node/node%d/cpumap", node);
        tree_put(root, path, text);
        snprintf(path, sizeof path, "sys/devices/system/node/node%d/meminfo", node);
        snprintf(text, sizeof text, "Node %d MemTotal:       1048576 kB\n", node);
        tree_put(root, path, text);
    }
    for (size_t i = 0; i < function_count; i++) {
        int node = numa_of(&functions[i]);

        snprintf(path, sizeof path, "sys/bus/pci/devices/%s/local_cpus", functions[i].location.pci);
        if (node < 0)
            continue;
        snprintf(text, sizeof text, "%x\n", 1U << node);
        tree_put(root, path, text);
    }
}

static hwloc_topology_t load(const char *root)
{
    hwloc_topology_t topology = NULL;

    if (root[0])
        setenv("HWLOC_FSROOT", root, 1);
    else
        unsetenv("HWLOC_FSROOT");
    setenv("HWLOC_COMPONENTS", "linux,stop",
           1); /* other components report this machine, not the tree */
    if (hwloc_topology_init(&topology) != 0)
        return NULL;
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(topology) == 0)
        return topology;
    hwloc_topology_destroy(topology);
    return NULL;
}

static hwloc_obj_t find_object(hwloc_topology_t topology, const char *pci)
{
    for (hwloc_obj_t at = NULL; (at = hwloc_get_next_pcidev(topology, at));) {
        char name[32];

        snprintf(name, sizeof name, "%04x:%02x:%02x.%01x", at->attr->pcidev.domain,
                 at->attr->pcidev.bus, at->attr->pcidev.dev, at->attr->pcidev.func);
        if (strcmp(name, pci) == 0)
            return at;
    }
    return NULL;
}

static bool is_pci_bridge(hwloc_obj_t object)
{
    return object->type == HWLOC_OBJ_BRIDGE &&
           object->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI;
}

static hwloc_obj_t common_ancestor(hwloc_obj_t a, hwloc_obj_t b, size_t *above_a, size_t *above_b)
{
    *above_a = *above_b = 0;
    for (a = a->parent; a; a = a->parent, ++*above_a) {
        *above_b = 0;
        for (hwloc_obj_t at = b->parent; at; at = at->parent, ++*above_b)
            if (at == a)
                return a;
    }
    return NULL;
}

static int node_of(hwloc_topology_t topology, hwloc_obj_t object)
{
    hwloc_obj_t at = hwloc_get_non_io_ancestor_obj(topology, object);

    return hwloc_bitmap_weight(at->nodeset) == 1 ? hwloc_bitmap_first(at->nodeset) : -1;
}

/* Returns the level by hwloc's tree. No level describes a bus with several devices side by side:
 * its level is PHB if a NUMA node is known, else unknown. */
static enum affinity_level level_of(hwloc_topology_t topology, hwloc_obj_t a, hwloc_obj_t b,
                                    bool has_numa)
{
    size_t above_a, above_b;
    hwloc_obj_t common = common_ancestor(a, b, &above_a, &above_b);
    int node_a = node_of(topology, a), node_b = node_of(topology, b);
    bool has_two_slots = above_a == 0 && above_b == 0 &&
                         (!is_pci_bridge(common) || a->attr->pcidev.dev != b->attr->pcidev.dev);

    if (common->type == HWLOC_OBJ_BRIDGE) {
        if (has_two_slots)
            return has_numa ? AFFINITY_PHB : AFFINITY_UNKNOWN;
        if (!is_pci_bridge(common))
            return AFFINITY_PHB;
        return above_a <= 1 && above_b <= 1 ? AFFINITY_PIX : AFFINITY_PXB;
    }
    if (!has_numa || node_a < 0 || node_b < 0)
        return AFFINITY_UNKNOWN;
    return node_a == node_b ? AFFINITY_NODE : AFFINITY_SYS;
}

/* Compares every two functions. Returns the number of pairs. */
static size_t compare_levels(const char *root, const char *name)
{
    hwloc_topology_t topology;
    size_t pairs = 0, wrong = 0, missing = 0, seen[AFFINITY_UNKNOWN + 1] = {0};

    read_functions(root);
    topology = load(root);
    if (!ok(topology, "%s: hwloc reads the tree", name))
        return 0;
    for (size_t i = 0; i < function_count; i++) {
        functions[i].object = find_object(topology, functions[i].location.pci);
        missing += !functions[i].object && !functions[i].is_bridge;
    }
    is_int(missing, 0, "%s: hwloc has all functions", name);
    for (size_t i = 0; i < function_count; i++) {
        for (size_t j = i + 1; j < function_count; j++) {
            const struct function *a = &functions[i], *b = &functions[j];
            enum affinity_level found, expected;

            if (a->is_bridge || b->is_bridge || !a->object || !b->object)
                continue;
            found = affinity_between(&a->location, &b->location);
            expected = level_of(topology, a->object, b->object,
                                a->location.numa_node >= 0 && b->location.numa_node >= 0);
            pairs++;
            seen[found]++;
            if (found != expected && wrong++ < 5)
                tap_diag("%s and %s: found %s, hwloc %s", a->location.path, b->location.path,
                         affinity_level_name(found), affinity_level_name(expected));
        }
    }
    is_int(wrong, 0, "%s: hwloc agrees on %zu pairs (%zu PIX, %zu PXB, %zu PHB, %zu NODE, %zu SYS)",
           name, pairs, seen[AFFINITY_PIX], seen[AFFINITY_PXB], seen[AFFINITY_PHB],
           seen[AFFINITY_NODE], seen[AFFINITY_SYS]);
    hwloc_topology_destroy(topology);
    return pairs;
}

static void write_missing_files(const char *root)
{
    read_functions(root);
    for (size_t i = 0; i < function_count; i++)
        write_config(root, &functions[i]);
    write_cpus(root);
}

/* Compares every recorded node that has PCI paths. */
static void recorded_nodes(void)
{
    const char *source = getenv("top_srcdir");
    char path[SYSFS_PATH];
    DIR *directory;
    struct dirent *entry;
    size_t pairs = 0;

    snprintf(path, sizeof path, "%s/tests/fixtures", source ? source : ".");
    directory = opendir(path);
    while (directory && (entry = readdir(directory))) {
        char *dot = strrchr(entry->d_name, '.'), *root;

        if (!dot || strcmp(dot, ".tree") != 0)
            continue;
        *dot = '\0';
        root = tree_unpack(entry->d_name);
        read_functions(root);
        if (function_count > 0 && functions[0].location.path[0]) {
            write_missing_files(root);
            pairs += compare_levels(root, entry->d_name);
        }
        tree_remove(root);
    }
    if (directory)
        closedir(directory);
    if (pairs == 0)
        tap_skip("no recorded node has PCI paths");
}

/* Random nodes: host bridges, root ports, switches below switches, devices of several functions,
 * flat buses; bus numbers as firmware gives them, depth first. */

static unsigned long long seed;

static unsigned draw(unsigned below)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL; /* Knuth's MMIX */
    return (unsigned)(seed >> 33) % below;
}

static void put_function(const char *root, const char *path, bool is_bridge, int numa_node)
{
    char file[SYSFS_PATH], link[SYSFS_PATH], target[SYSFS_PATH], text[32];

    snprintf(file, sizeof file, "sys/devices/%s/class", path);
    tree_put(root, file, is_bridge ? "0x060400\n" : "0x020000\n");
    snprintf(file, sizeof file, "sys/devices/%s/vendor", path);
    tree_put(root, file, "0x15b3\n");
    snprintf(file, sizeof file, "sys/devices/%s/device", path);
    tree_put(root, file, "0x1021\n");
    snprintf(file, sizeof file, "sys/devices/%s/numa_node", path);
    snprintf(text, sizeof text, "%d\n", numa_node);
    tree_put(root, file, text);
    tree_put(root, "sys/bus/pci/devices/.keep", "");
    snprintf(link, sizeof link, "%s/sys/bus/pci/devices/%s", root, strrchr(path, '/') + 1);
    snprintf(target, sizeof target, "../../../devices/%s", path);
    if (symlink(target, link) != 0)
        tap_diag("%s: %m", link);
}

static void put_devices(const char *root, const char *above, unsigned domain, unsigned bus,
                        int numa_node)
{
    char path[SYSFS_PATH];

    for (unsigned function = 0; function <= draw(2); function++) {
        snprintf(path, sizeof path, "%s/%04x:%02x:00.%u", above, domain, bus, function);
        put_function(root, path, false, numa_node);
    }
}

/* Writes the devices and switches below a port; next is the first free bus number. */
static void put_below(const char *root, const char *port, unsigned domain, unsigned *next,
                      int numa_node, int depth)
{
    char upstream[SYSFS_PATH], downstream[SYSFS_PATH];
    unsigned bus = (*next)++, inside, ports;

    if (depth == 0 || draw(2) == 0) {
        put_devices(root, port, domain, bus, numa_node);
        return;
    }
    snprintf(upstream, sizeof upstream, "%s/%04x:%02x:00.0", port, domain, bus);
    put_function(root, upstream, true, numa_node);
    inside = (*next)++;
    ports = 1 + draw(3);
    for (unsigned i = 0; i < ports && *next < 200; i++) {
        snprintf(downstream, sizeof downstream, "%s/%04x:%02x:%02x.0", upstream, domain, inside, i);
        put_function(root, downstream, true, numa_node);
        put_below(root, downstream, domain, next, numa_node, depth - 1);
    }
}

static void random_node(unsigned number)
{
    char *root = tree_unpack(""), path[SYSFS_PATH], name[32];
    unsigned domain = draw(2), next = 0, bridges = 1 + draw(4);
    bool has_numa = draw(4) > 0;

    for (unsigned i = 0; i < bridges && next < 200; i++) {
        unsigned bus = next++, ports = 1 + draw(3);
        int numa_node = has_numa ? (int)draw(3) : -1;

        for (unsigned j = 0; j < ports; j++) {
            snprintf(path, sizeof path, "pci%04x:%02x/%04x:%02x:%02x.0", domain, bus, domain, bus,
                     j + 1);
            put_function(root, path, draw(8) > 0, numa_node);
            if (sysfs_number(root, "sys/devices/%s/class", path) == 0x060400)
                put_below(root, path, domain, &next, numa_node, 3);
        }
    }
    snprintf(name, sizeof name, "random node %u", number);
    write_missing_files(root);
    compare_levels(root, name);
    tree_remove(root);
}

/* Arguments: trees of hwloc-gather-topology, which are compared unchanged. */
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        compare_levels(argv[i], argv[i]);
    if (argc > 1)
        return tap_done();
    compare_levels("", "this machine");
    recorded_nodes();
    for (unsigned i = 1; i <= 6; i++) {
        seed = i;
        random_node(i);
    }
    return tap_done();
}
