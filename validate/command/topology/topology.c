/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/sysfs.h"
#include "lib/base/text.h"
#include "lib/fabric/affinity.h"
#include "validate/command/command.h"
#include "validate/command/topology/fabric.h"
#include "validate/report/table.h"

#include <stdlib.h>
#include <string.h>

struct view {
    const struct node_view *node_view;
    const char *node;
    struct affinity affinity;
};

/* A device is an index: GPUs first, then rails. */
static size_t device_count(const struct view *view)
{
    return view->node_view->inventory->gpu_count + view->node_view->fabric.rail_count;
}

static bool is_gpu(const struct view *view, size_t device)
{
    return device < view->node_view->inventory->gpu_count;
}

static const struct rail *rail_of(const struct view *view, size_t device)
{
    return &view->node_view->fabric.rails[device - view->node_view->inventory->gpu_count];
}

static const struct location *location_of(const struct view *view, size_t device)
{
    if (is_gpu(view, device))
        return &view->node_view->inventory->gpus[device].location;
    return rail_location(rail_of(view, device));
}

enum { NAME = 80 };

/* gpu: "gpu" for records, which use lower case, else "GPU". */
static const char *name_of(const struct view *view, size_t device, const char *gpu, char name[NAME])
{
    if (is_gpu(view, device))
        snprintf(name, NAME, "%s%zu", gpu, device);
    else
        snprintf(name, NAME, "%s", rail_of(view, device)->name);
    return name;
}

static enum affinity_level level_of(const struct view *view, size_t a, size_t b)
{
    size_t gpus = view->node_view->inventory->gpu_count;

    if (is_gpu(view, a) && is_gpu(view, b))
        return affinity_of_gpus(view->node_view->inventory, &view->node_view->inventory->gpus[a],
                                &view->node_view->inventory->gpus[b]);
    if (!is_gpu(view, a) && !is_gpu(view, b))
        return affinity_of_rails(view->node_view->inventory, rail_of(view, a), rail_of(view, b));
    return view->affinity.level[a < b ? a : b][(a < b ? b : a) - gpus];
}

/* Reads the CPUs near the device, by its PCI function, else by its NUMA node; "" if unknown. */
static void read_cpus(const struct view *view, const struct location *location, char *cpus,
                      size_t size)
{
    cpus[0] = '\0';
    if (location->pci[0])
        sysfs_line(view->node_view->root, cpus, size, "sys/bus/pci/devices/%s/local_cpulist",
                   location->pci);
    if (!cpus[0] && location->numa_node >= 0)
        sysfs_line(view->node_view->root, cpus, size, "sys/devices/system/node/node%d/cpulist",
                   location->numa_node);
}

static void print_matrix(const struct view *view)
{
    struct table table = {.columns = device_count(view) + 3};
    char name[NAME], cpus[256], numa[16];

    table_cells(&table, "%s", "");
    for (size_t i = 0; i < device_count(view); i++)
        table_cells(&table, "%s", name_of(view, i, "GPU", name));
    table_cells(&table, "CPU AFFINITY\tNUMA");
    for (size_t i = 0; i < device_count(view); i++) {
        const struct location *location = location_of(view, i);

        table_cells(&table, "%s", name_of(view, i, "GPU", name));
        for (size_t j = 0; j < device_count(view); j++) {
            enum affinity_level level = i == j ? AFFINITY_SAME : level_of(view, i, j);

            table_cells(&table, "%s",
                        i == j                      ? "X"
                        : level == AFFINITY_UNKNOWN ? "?"
                                                    : affinity_level_name(level));
        }
        read_cpus(view, location, cpus, sizeof cpus);
        snprintf(numa, sizeof numa, "%d", location->numa_node);
        table_cells(&table, "%s\t%s", cpus[0] ? cpus : "-", location->numa_node >= 0 ? numa : "-");
    }
    table_end(&table, stdout, "");
    putchar('\n');
}

/* Prints the model. Names from drivers have the vendor; an ID like "10de:2330" needs it added. */
static void print_model(struct table *table, const struct gpu *gpu)
{
    bool is_number = strchr(gpu->model, ':');

    table_cells(table, "%s%s%s\t", is_number ? gpu_vendor_name(gpu->vendor) : "",
                is_number ? " " : "", gpu->model);
}

static void print_devices(const struct view *view)
{
    struct table table = {0};
    char name[NAME];

    table_heading(&table, "DEVICE\tPCI\tWHAT\tSTATE");
    for (size_t i = 0; i < device_count(view); i++) {
        const struct location *location = location_of(view, i);

        table_cells(&table, "%s\t%s", name_of(view, i, "GPU", name),
                    location->pci[0] ? location->pci : "-");
        if (is_gpu(view, i))
            print_model(&table, &view->node_view->inventory->gpus[i]);
        else
            table_cells(&table, "%s\t%s", fabric_class_name(rail_of(view, i)->class),
                        rail_is_up(rail_of(view, i)) ? "up" : "down");
    }
    table_end(&table, stdout, "");
    putchar('\n');
}

/* Lists the rails of a GPU as "a b", and sets their level, which is the same for all. */
static size_t find_rails(const struct view *view, size_t gpu, char *text, size_t size,
                         enum affinity_level *level)
{
    size_t count = 0;

    text[0] = '\0';
    for (size_t i = 0; i < view->node_view->fabric.rail_count; i++) {
        if (!view->affinity.serves[gpu][i])
            continue;
        text_join(text, size, " ", "%s", view->node_view->fabric.rails[i].name);
        *level = view->affinity.level[gpu][i];
        count++;
    }
    return count;
}

static size_t find_gpus(const struct view *view, size_t rail, char *text, size_t size)
{
    size_t count = 0;

    text[0] = '\0';
    for (size_t i = 0; i < view->node_view->inventory->gpu_count; i++) {
        if (!view->affinity.serves[i][rail])
            continue;
        text_join(text, size, " ", "GPU%zu", i);
        count++;
    }
    return count;
}

static bool has_usable_rail(const struct view *view)
{
    for (size_t i = 0; i < view->node_view->fabric.rail_count; i++)
        if (view->affinity.is_usable[i])
            return true;
    return false;
}

/* Returns why no rail serves the GPU. */
static const char *why_none(const struct view *view)
{
    if (view->node_view->fabric.rail_count == 0)
        return "the node has no rail";
    return has_usable_rail(view) ? "unknown from PCI paths and NUMA nodes" : "no rail is up";
}

enum { LIST = 4096 };

static void describe_gpu(const struct view *view, size_t gpu, char text[LIST])
{
    enum affinity_level level = AFFINITY_UNKNOWN;
    char rails[LIST - NAME];
    size_t count = find_rails(view, gpu, rails, sizeof rails, &level);

    if (count == 0)
        snprintf(text, LIST, "none: %s", why_none(view));
    else
        snprintf(text, LIST, "%s (%s%s%s)", rails, affinity_level_name(level),
                 view->affinity.is_coarse[gpu] ? " or nearer" : "",
                 view->affinity.is_coarse[gpu] && count > 1 ? ", the nearest one is unknown" : "");
}

static void describe_rail(const struct view *view, size_t rail, char text[LIST])
{
    if (find_gpus(view, rail, text, LIST) == 0)
        snprintf(text, LIST, "none%s", view->affinity.is_usable[rail] ? "" : ": it is down");
}

static void print_service(const struct view *view)
{
    char text[LIST];

    for (size_t i = 0; i < view->node_view->inventory->gpu_count; i++) {
        describe_gpu(view, i, text);
        printf("GPU%zu -> %s\n", i, text);
    }
    if (view->node_view->inventory->gpu_count > 0)
        putchar('\n');
    for (size_t i = 0; i < view->node_view->fabric.rail_count; i++) {
        describe_rail(view, i, text);
        printf("%s -> %s\n", view->node_view->fabric.rails[i].name, text);
    }
}

static void print_people(const struct view *view)
{
    printf("node    %s%s\nfabric  %s: %s\n\n", view->node,
           view->node_view->inventory->is_virtual_machine ? ", a virtual machine" : "",
           fabric_class_name(view->node_view->fabric.class), view->node_view->fabric.reason);
    if (device_count(view) == 0) {
        puts("No GPUs and no rails.");
        return;
    }
    print_matrix(view);
    puts("X     the device itself\n"
         "SAME  one PCI function\n"
         "PIX   one PCIe switch, or two functions of one device\n"
         "PXB   several PCIe switches, no host bridge\n"
         "PHB   one host bridge\n"
         "NODE  several host bridges of one NUMA node\n"
         "SYS   across NUMA nodes\n"
         "?     unknown\n");
    print_devices(view);
    print_service(view);
}

/* Writes a record: doc/records.md. Unknown values have the verdict unknown, and are never absent.
 */

static void write_record(const struct view *view, const char *metric, const char *part,
                         const char *message, double count, enum verdict verdict)
{
    record_put(stdout,
               RECORD(.suite = "topology", .test = "gpu.affinity", .metric = metric,
                      .node = view->node, .part = part, .verdict = verdict, .value = count,
                      .unit = count >= 0 ? "count" : NULL),
               "%s", message);
}

static void write_records(const struct view *view)
{
    const double none = __builtin_nan("");
    char name[NAME], other[NAME], pair[2 * NAME], text[LIST], list[LIST];
    size_t gpus = view->node_view->inventory->gpu_count;
    enum affinity_level level;

    for (size_t i = 0; i < device_count(view); i++) {
        name_of(view, i, "gpu", name);
        if (location_of(view, i)->pci[0])
            write_record(view, "pci", name, location_of(view, i)->pci, none, VERDICT_NONE);
        for (size_t j = i + 1; j < device_count(view); j++) {
            snprintf(pair, sizeof pair, "%s %s", name, name_of(view, j, "gpu", other));
            level = level_of(view, i, j);
            write_record(view, "level", pair, affinity_level_name(level), none,
                         level == AFFINITY_UNKNOWN ? VERDICT_UNKNOWN : VERDICT_NONE);
        }
    }
    for (size_t i = 0; i < device_count(view); i++) {
        name_of(view, i, "gpu", name);
        if (is_gpu(view, i)) {
            describe_gpu(view, i, text);
            write_record(view, "rails", name, text,
                         (double)find_rails(view, i, list, sizeof list, &level),
                         view->affinity.is_known[i] ? VERDICT_PASS : VERDICT_UNKNOWN);
        } else {
            describe_rail(view, i - gpus, text);
            write_record(view, "gpus", name, text,
                         (double)find_gpus(view, i - gpus, list, sizeof list), VERDICT_NONE);
        }
    }
}

static int show(const struct view *view, bool as_json)
{
    if (as_json)
        write_records(view);
    else
        print_people(view);
    for (size_t i = 0; i < view->node_view->inventory->gpu_count; i++)
        if (!view->affinity.is_known[i])
            return COMMAND_UNKNOWN;
    return COMMAND_PASS;
}

static const struct option_row rows[] = {
    COMMAND_CONFIG(struct node_options),
    OPTION('\0', "fabric", NULL,
           "show the network's switches instead of this node: see muster topology --fabric --help",
           FLAG, OPTION_FIELD(struct node_options, is_named)),
    COMMAND_JSON(struct node_options),
    OPTION('\0', "neighbors", NULL,
           "show the switch ports to which this node's interfaces are cabled, from LLDP", FLAG,
           OPTION_FIELD(struct node_options, is_named)),
    OPTION('\0', "node", NULL, "show the topology of this node (the default)", FLAG,
           OPTION_FIELD(struct node_options, is_named)),
    COMMAND_ROOT(struct node_options),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster topology",
    .summary = "Prints the distance between this node's GPUs and rails, with the levels of "
               "nvidia-smi topo -m, and which rails serve which GPU. Reads only /sys and /proc.",
    .status = "0 every GPU has its rails, 1 the fabric has a fault, 2 usage, 3 cannot tell.",
    .rows = rows,
};

static int topology(const struct node_options *options, const struct node_view *node_view)
{
    static struct view view;

    view.node_view = node_view;
    view.node = options->root ? node_view->inventory->hostname : command_node(NULL, "");
    affinity_make(node_view->inventory, &node_view->fabric, NULL, &view.affinity);
    return show(&view, options->as_json);
}

int command_topology(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--fabric") == 0)
            return command_topology_fabric(argc, argv);
        if (strcmp(argv[i], "--neighbors") == 0)
            return command_topology_neighbors(argc, argv);
    }
    return command_on_node(&set, argc, argv, topology);
}
