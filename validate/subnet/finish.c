/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/subnet/subnet.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/sysfs.h"

/* A switch counts as empty if a typical leaf (the median) has more than this many times its nodes.
 */
enum { FEW = 4 };

/* Managed switches have the description "MF0;ibsw1:MQM8700/U1": host name, model, and chip. */
static void name_switch(struct subnet_device *device)
{
    const char *begin = device->description, *semicolon = strchr(begin, ';'), *colon, *chip;

    if (!semicolon && (strstr(begin, "Technologies") || strstr(begin, "Mellanox")))
        return; /* the same description on all unmanaged switches */
    if (!semicolon) {
        snprintf(device->name, sizeof device->name, "%.63s", begin);
        return;
    }
    begin = semicolon + 1;
    colon = strchr(begin, ':');
    chip = colon ? strchr(colon, '/') : NULL;
    snprintf(device->name, sizeof device->name, "%.*s%.20s",
             colon ? (colon - begin > 40 ? 40 : (int)(colon - begin)) : 40, begin,
             chip && strcmp(chip, "/U1") != 0 ? chip : "");
}

/* rdma-ndd or a boot script sets descriptions "n1 mlx5_0", "n1 HCA-1" or "n1.site.org mlx5_0" from
 * the host name, with or without a domain. On Ethernet it is Slurm's name of the node, unchanged.
 */
static void name_adapter(struct subnet_device *device, bool is_ethernet)
{
    const char *text = device->description;
    size_t length = strcspn(text, " ");
    char *dot;

    device->is_service = strstr(text, "Aggregation Node") != NULL;
    if (device->is_service || strstr(text, "Technologies") || strncmp(text, "Mellanox ", 9) == 0 ||
        strncmp(text, "NVIDIA ", 7) == 0 || strncmp(text, "ConnectX", 8) == 0 ||
        (strncmp(text, "MT", 2) == 0 && isdigit((unsigned char)text[2]) && strchr(text, ' ')))
        return;
    snprintf(device->name, sizeof device->name, "%.*s", (int)(length > 63 ? 63 : length), text);
    dot = is_ethernet ? NULL : strchr(device->name, '.');
    if (dot)
        *dot = '\0';
    text += length + strspn(text + length, " ");
    snprintf(device->adapter, sizeof device->adapter, "%.*s", (int)strcspn(text, " "), text);
}

/* Compares adapters, as indexes in devices, by name, then GUID. */
static int by_name_and_guid(const void *a, const void *b, void *context)
{
    const struct subnet *subnet = context;
    const struct subnet_device *one = &subnet->devices[*(const size_t *)a];
    const struct subnet_device *other = &subnet->devices[*(const size_t *)b];
    int order = strcmp(one->name, other->name);

    return order ? order : (one->guid > other->guid) - (one->guid < other->guid);
}

/* Numbers adapters whose description has only the node's name in the order of their GUIDs. */
static int number_adapters(struct subnet *subnet, struct error *err)
{
    size_t *order = malloc((subnet->device_count + 1) * sizeof *order), count = 0;

    if (!order)
        return error_set(err, "out of memory for the subnet");
    for (size_t i = 0; i < subnet->device_count; i++)
        if (subnet->devices[i].kind == SUBNET_ADAPTER && subnet->devices[i].name[0] &&
            !subnet->devices[i].adapter[0])
            order[count++] = i;
    qsort_r(order, count, sizeof *order, by_name_and_guid, subnet);
    for (size_t i = 0, first = 0, number = 0; i < count; i++) {
        struct subnet_device *device = &subnet->devices[order[i]];
        const struct subnet_device *before = &subnet->devices[order[i > 0 ? i - 1 : 0]];

        if (strcmp(device->name, before->name) != 0)
            first = number = i;
        else if (device->guid != before->guid) /* adapters of one GUID share a number */
            number = i;
        snprintf(device->adapter, sizeof device->adapter, "hca%zu", number - first);
    }
    free(order);
    return 0;
}

static int other_end(const struct subnet *subnet, int device, int i)
{
    return subnet_peer_device(subnet, &subnet->ports[subnet->devices[device].first_port + i]);
}

/* Sets the plane of all devices reachable from one. stack: room for all devices. */
static void fill_plane(struct subnet *subnet, int from, int plane, int *stack)
{
    size_t depth = 0;

    stack[depth++] = from;
    subnet->devices[from].plane = plane;
    while (depth > 0) {
        int device = stack[--depth];

        for (int i = 0; i < subnet->devices[device].port_count; i++) {
            int next = other_end(subnet, device, i);

            if (next < 0 || subnet->devices[next].plane != -1)
                continue;
            subnet->devices[next].plane = plane;
            stack[depth++] = next;
        }
    }
}

/* Planes are connected parts of switches only: an adapter with two ports forwards no packets, and
 * so does not join two planes. */
static void find_planes(struct subnet *subnet, int *stack)
{
    subnet->plane_count = 0;
    for (size_t i = 0; i < subnet->device_count; i++)
        if (subnet->devices[i].kind != SUBNET_SWITCH)
            subnet->devices[i].plane = -2;
    for (size_t i = 0; i < subnet->device_count; i++)
        if (subnet->devices[i].plane == -1)
            fill_plane(subnet, (int)i, subnet->plane_count++, stack);
}

static int hosts_of(const struct subnet *subnet, int device)
{
    int count = 0;

    for (int i = 0; i < subnet->devices[device].port_count; i++) {
        int next = other_end(subnet, device, i);

        count += next >= 0 && subnet->devices[next].kind == SUBNET_ADAPTER &&
                 !subnet->devices[next].is_service;
    }
    return count;
}

static int int_compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Whether a switch with few nodes joins leaves: it is cabled to two leaves that are full enough, or
 * to one if it is empty itself. typical: the median of the switches' nodes. */
static bool joins_leaves(const struct subnet *subnet, int device, const int *hosts, int typical)
{
    int full = 0, first = -1;

    if (2 * hosts[device] > typical)
        return false;
    for (int i = 0; i < subnet->devices[device].port_count; i++) {
        int next = other_end(subnet, device, i);

        if (next < 0 || 2 * hosts[next] <= typical || next == first)
            continue;
        full++;
        first = next;
    }
    return full > 1 || (full == 1 && FEW * hosts[device] < typical);
}

static bool is_cabled(const struct subnet *subnet, int device, int to)
{
    for (int i = 0; i < subnet->devices[device].port_count; i++)
        if (other_end(subnet, device, i) == to)
            return true;
    return false;
}

static bool is_switch(const struct subnet *subnet, int device)
{
    return device >= 0 && subnet->devices[device].kind == SUBNET_SWITCH;
}

/* Whether `other` is cabled to every switch that `one` is cabled to. */
static bool reaches_all(const struct subnet *subnet, int one, int other)
{
    for (int i = 0; i < subnet->devices[one].port_count; i++) {
        int next = other_end(subnet, one, i);

        if (is_switch(subnet, next) && !is_cabled(subnet, other, next))
            return false;
    }
    return true;
}

/* Whether a switch is a spine: most of its cables to switches lead to switches with nodes, and a
 * switch without nodes is cabled to the same switches. */
static bool has_spine_twin(const struct subnet *subnet, int device, const int *hosts)
{
    int switches = 0, with_nodes = 0, first = -1;

    for (int i = 0; i < subnet->devices[device].port_count; i++) {
        int next = other_end(subnet, device, i);

        if (!is_switch(subnet, next))
            continue;
        first = next;
        switches++;
        with_nodes += hosts[next] > 0;
    }
    for (int i = 0; 2 * with_nodes > switches && i < subnet->devices[first].port_count; i++) {
        int twin = other_end(subnet, first, i);

        if (is_switch(subnet, twin) && twin != device && hosts[twin] == 0 &&
            reaches_all(subnet, device, twin) && reaches_all(subnet, twin, device))
            return true;
    }
    return false;
}

/* Sets the level of leaves to 0. hosts: [device], its nodes. scratch: room for all devices. */
static void find_leaves(struct subnet *subnet, const int *hosts, int *scratch)
{
    size_t count = 0;

    for (size_t i = 0; i < subnet->device_count; i++)
        if (hosts[i] > 0)
            scratch[count++] = hosts[i];
    if (count == 0)
        return;
    qsort(scratch, count, sizeof *scratch, int_compare);
    for (size_t i = 0; i < subnet->device_count; i++)
        if (hosts[i] > 0 && !joins_leaves(subnet, (int)i, hosts, scratch[count / 2]) &&
            !has_spine_twin(subnet, (int)i, hosts))
            subnet->devices[i].level = 0;
}

/* Sets the level of each switch: its least distance from a leaf. queue: room for all devices. */
static void find_levels(struct subnet *subnet, int *queue)
{
    size_t head = 0, tail = 0;

    subnet->level_count = 0;
    for (size_t i = 0; i < subnet->device_count; i++)
        if (subnet->devices[i].level == 0)
            queue[tail++] = (int)i;
    while (head < tail) {
        int device = queue[head++], level = subnet->devices[device].level;

        if (level >= subnet->level_count)
            subnet->level_count = level + 1;
        for (int i = 0; i < subnet->devices[device].port_count; i++) {
            int next = other_end(subnet, device, i);

            if (next < 0 || subnet->devices[next].kind != SUBNET_SWITCH ||
                subnet->devices[next].level >= 0)
                continue;
            subnet->devices[next].level = level + 1;
            queue[tail++] = next;
        }
    }
}

static void rail_name(const struct subnet *subnet, const struct subnet_port *port, char *name,
                      size_t size)
{
    const struct subnet_device *device = &subnet->devices[port->device];

    if (subnet->is_ethernet)
        snprintf(name, size, "%s", port->label);
    else
        snprintf(name, size, "%s:%d", device->adapter, port->number);
}

/* Sorts the list and removes duplicates. */
static void list_tidy(struct hostlist *list)
{
    size_t kept = 0;

    if (list->count > 1)
        qsort(list->names, list->count, sizeof *list->names, sysfs_compare_names);
    for (size_t i = 0; i < list->count; i++) {
        if (kept > 0 && strcmp(list->names[kept - 1], list->names[i]) == 0)
            free(list->names[i]);
        else
            list->names[kept++] = list->names[i];
    }
    list->count = kept;
}

static int list_find(const struct hostlist *list, const char *name)
{
    char **found = list->count == 0 ? NULL
                                    : bsearch(&name, list->names, list->count, sizeof *list->names,
                                              sysfs_compare_names);

    return found ? (int)(found - list->names) : -1;
}

static bool is_rail(const struct subnet *subnet, size_t port)
{
    const struct subnet_port *of = &subnet->ports[port];

    return subnet->devices[of->device].kind == SUBNET_ADAPTER &&
           subnet->devices[of->device].name[0] && of->peer >= 0 &&
           subnet->devices[subnet->ports[of->peer].device].kind == SUBNET_SWITCH;
}

static int attachment_compare(const void *a, const void *b)
{
    const struct subnet_rail *one = a, *other = b;

    return one->node != other->node ? one->node - other->node : one->rail - other->rail;
}

/* A list doubles its room when its count is a power of two, so no name may be appended after
 * list_tidy() has removed duplicates: all names are appended before. */
static int find_names(struct subnet *subnet)
{
    char name[64];
    int rv = 0;

    for (size_t i = 0; rv == 0 && i < subnet->device_count; i++)
        if (subnet->devices[i].kind == SUBNET_ADAPTER && subnet->devices[i].name[0])
            rv = hostlist_append(&subnet->nodes, subnet->devices[i].name);
    for (size_t i = 0; rv == 0 && i < subnet->port_count; i++) {
        if (!is_rail(subnet, i))
            continue;
        rail_name(subnet, &subnet->ports[i], name, sizeof name);
        rv = hostlist_append(&subnet->rails, name);
    }
    list_tidy(&subnet->nodes);
    list_tidy(&subnet->rails);
    return rv;
}

static int attach(struct subnet *subnet, struct error *err)
{
    char name[64];
    struct subnet_rail *rails;

    if (find_names(subnet) != 0)
        return error_set(err, "out of memory for the subnet's nodes");
    rails = calloc(subnet->port_count + 1, sizeof *rails);
    if (!rails)
        return error_set(err, "out of memory for the subnet's nodes");
    for (size_t i = 0; i < subnet->port_count; i++) {
        const struct subnet_port *port = &subnet->ports[i];

        if (!is_rail(subnet, i))
            continue;
        rail_name(subnet, port, name, sizeof name);
        rails[subnet->attachment_count++] =
            (struct subnet_rail){.node = subnet_node(subnet, subnet->devices[port->device].name),
                                 .rail = list_find(&subnet->rails, name),
                                 .port = (int)i,
                                 .switch_port = port->peer,
                                 .leaf = subnet->ports[port->peer].device};
    }
    qsort(rails, subnet->attachment_count, sizeof *rails, attachment_compare);
    subnet->attachments = rails;
    return 0;
}

int subnet_finish(struct subnet *subnet, struct error *err)
{
    int *hosts = calloc(subnet->device_count + 1, sizeof *hosts);
    int *scratch = calloc(subnet->device_count + 1, sizeof *scratch);
    int rv;

    for (size_t i = 0; i < subnet->device_count; i++) {
        struct subnet_device *device = &subnet->devices[i];

        if (device->kind == SUBNET_SWITCH)
            name_switch(device);
        else if (device->kind == SUBNET_ADAPTER)
            name_adapter(device, subnet->is_ethernet);
    }
    rv = hosts && scratch ? number_adapters(subnet, err)
                          : error_set(err, "out of memory for the subnet");
    for (size_t i = 0; rv == 0 && i < subnet->device_count; i++)
        if (subnet->devices[i].kind == SUBNET_SWITCH)
            hosts[i] = hosts_of(subnet, (int)i);
    if (rv == 0) {
        find_planes(subnet, scratch);
        find_leaves(subnet, hosts, scratch);
        find_levels(subnet, scratch);
        rv = attach(subnet, err);
    }
    free(hosts);
    free(scratch);
    return rv;
}

int subnet_node(const struct subnet *subnet, const char *name)
{
    return list_find(&subnet->nodes, name);
}

const struct subnet_rail *subnet_attachment(const struct subnet *subnet, int node, int rail)
{
    struct subnet_rail key = {.node = node, .rail = rail};

    return subnet->attachment_count == 0
               ? NULL
               : bsearch(&key, subnet->attachments, subnet->attachment_count, sizeof key,
                         attachment_compare);
}

/* Reads one line of the map. Returns 1 if it names a device, 0 if it is empty, or -1 with err. */
static int map_line(struct subnet *subnet, char *line, struct error *err)
{
    char *end, *quote, *close;
    uint64_t guid;

    line += strspn(line, " \t");
    if (!*line || *line == '#' || *line == '\n')
        return 0;
    guid = strtoull(line, &end, 16);
    quote = strchr(end, '"');
    close = quote ? strchr(quote + 1, '"') : NULL;
    if (guid == 0 || !close || strspn(end, " \t") != (size_t)(quote - end))
        return error_set(err, "expected 0xGUID \"NAME\", found '%.*s'", (int)strcspn(line, "\n"),
                         line);
    *close = '\0';
    for (size_t i = 0; i < subnet->device_count; i++)
        if (subnet->devices[i].guid == guid)
            snprintf(subnet->devices[i].description, sizeof subnet->devices[i].description, "%s",
                     quote + 1);
    return 1;
}

int subnet_map(struct subnet *subnet, const char *path, struct error *err)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    int number = 0, rv = 0;

    if (!file)
        return error_set(err, "%s: %m", path);
    while (rv >= 0 && getline(&line, &size, file) >= 0) {
        number++;
        rv = map_line(subnet, line, err);
    }
    if (rv < 0)
        error_prefix(err, "%s:%d", path, number);
    else if (ferror(file))
        rv = error_set(err, "%s: %m", path);
    free(line);
    fclose(file);
    return rv < 0 ? -1 : 0;
}
