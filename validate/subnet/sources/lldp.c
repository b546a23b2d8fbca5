/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/subnet/subnet.h"

#include <ctype.h>
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/compare.h"
#include "lib/base/grow.h"
#include "lib/base/regular_file.h"

/* The output of `lldpcli -f json show neighbors details` (lldpd 1.0, src/client/json_writer.c): an
 * interface is {"eth1": {"age": "0 day, 00:02:07", "chassis": {"leaf1": {"id": {...}, "capability":
 * [...]}}, "port": {"id": {...}, "descr": ..., "auto-negotiation": {"current": "100GbaseCR4
 * ..."}}}}. Several values of one kind are an array. A chassis without a name has its members
 * directly in "chassis". */

void subnet_neighbors_clear(struct subnet_neighbors *neighbors)
{
    if (!neighbors)
        return;
    hostlist_clear(&neighbors->nodes);
    free(neighbors->items);
    *neighbors = (struct subnet_neighbors){0};
}

int subnet_neighbors_node(struct subnet_neighbors *neighbors, const char *node, struct error *err)
{
    return hostlist_append(&neighbors->nodes, node) == 0 ? 0 : error_set(err, "no memory");
}

int subnet_neighbors_add(struct subnet_neighbors *neighbors, const struct subnet_neighbor *neighbor,
                         struct error *err)
{
    struct subnet_neighbor *items = neighbors->items;
    int node = (int)neighbors->nodes.count - 1;

    for (size_t i = neighbors->count; i > 0 && items[i - 1].node == node; i--) {
        if (strcmp(items[i - 1].interface, neighbor->interface) != 0)
            continue;
        if (neighbor->age_s < items[i - 1].age_s) {
            items[i - 1] = *neighbor;
            items[i - 1].node = node;
        }
        return 0;
    }
    if (!GROW(neighbors->items, neighbors->count))
        return error_set(err, "no memory");
    neighbors->items[neighbors->count] = *neighbor;
    neighbors->items[neighbors->count++].node = node;
    return 0;
}

/* Returns the number of values: several values of one kind are an array, one is not. */
static size_t several(const json_t *value)
{
    return !value ? 0 : json_is_array(value) ? json_array_size(value) : 1;
}

static json_t *one_of(json_t *value, size_t i)
{
    return json_is_array(value) ? json_array_get(value, i) : value;
}

/* Returns the speed at the start of an Ethernet type: "100GbaseCR4", "2.5GbaseT", "1000BaseTFD". */
static struct subnet_rate rate_of(const char *kind)
{
    char *end;
    double number = kind ? strtod(kind, &end) : 0;

    if (!kind || end == kind || !(number > 0) || number > 1e6)
        return (struct subnet_rate){0};
    return (struct subnet_rate){
        1, (int)(toupper((unsigned char)*end) == 'G' ? 1000 * number : number)};
}

/* Returns the seconds of an age "0 day, 00:02:07"; 0 if it is missing. */
static double age_of(const char *text)
{
    double days, hours, minutes, seconds;

    return text && sscanf(text, "%lf day%*[^0-9]%lf:%lf:%lf", &days, &hours, &minutes, &seconds) ==
                       4
               ? ((days * 24 + hours) * 60 + minutes) * 60 + seconds
               : 0;
}

/* Whether a neighbor forwards packets: other nodes and NICs send LLDP too. A neighbor without
 * capabilities counts as a switch. */
static bool is_switch(const json_t *chassis)
{
    json_t *capabilities = json_object_get(chassis, "capability");
    bool has_capability = false;

    for (size_t i = 0; i < several(capabilities); i++) {
        const json_t *capability = one_of(capabilities, i);
        const char *type = json_string_value(json_object_get(capability, "type"));

        has_capability = true;
        if (type && (strcmp(type, "Bridge") == 0 || strcmp(type, "Router") == 0) &&
            json_is_true(json_object_get(capability, "enabled")))
            return true;
    }
    return !has_capability;
}

/* Returns the port's name: its description if its ID is a MAC address, else its ID. */
static const char *port_name(const json_t *port)
{
    const json_t *id = json_object_get(port, "id");
    const char *type = json_string_value(json_object_get(id, "type"));
    const char *description = json_string_value(json_object_get(port, "descr"));

    return type && strcmp(type, "mac") == 0 && description
               ? description
               : json_string_value(json_object_get(id, "value"));
}

static const char *id_of(const json_t *chassis)
{
    return json_string_value(json_object_get(json_object_get(chassis, "id"), "value"));
}

/* Adds a neighbor. One without the IDs that LLDP requires is left out. */
static int add_neighbor(struct subnet_neighbors *gathering, const char *interface, json_t *value,
                        struct error *err)
{
    json_t *chassis = one_of(json_object_get(value, "chassis"), 0);
    json_t *port = one_of(json_object_get(value, "port"), 0);
    const char *name = NULL, *id, *label = port_name(port);
    struct subnet_neighbor neighbor = {0};

    if (json_is_object(chassis) && !id_of(chassis)) { /* it has a name, which may be "id" */
        void *first = json_object_iter(chassis);

        name = first ? json_object_iter_key(first) : NULL;
        chassis = first ? json_object_iter_value(first) : NULL;
    }
    id = id_of(chassis);
    if (!id || !label || !is_switch(chassis))
        return 0;
    subnet_copy_text(interface, neighbor.interface, sizeof neighbor.interface);
    subnet_copy_text(id, neighbor.chassis, sizeof neighbor.chassis);
    subnet_copy_text(name, neighbor.name, sizeof neighbor.name);
    subnet_copy_text(label, neighbor.port, sizeof neighbor.port);
    neighbor.rate = rate_of(
        json_string_value(json_object_get(json_object_get(port, "auto-negotiation"), "current")));
    neighbor.age_s = age_of(json_string_value(json_object_get(value, "age")));
    return subnet_neighbors_add(gathering, &neighbor, err);
}

/* Adds the node and its neighbors in root; releases root. */
static int take_node(struct subnet_neighbors *gathering, const char *node, json_t *root,
                     struct error *err)
{
    json_t *interfaces, *value;
    const char *interface;
    int rv = 0;

    if (!json_is_object(json_object_get(root, "lldp")))
        rv = error_set(err, "not the output of lldpcli -f json show neighbors details");
    else
        rv = subnet_neighbors_node(gathering, node, err);
    interfaces = json_object_get(json_object_get(root, "lldp"), "interface");
    for (size_t i = 0; rv == 0 && i < several(interfaces); i++) {
        json_object_foreach(one_of(interfaces, i), interface, value)
        {
            rv = add_neighbor(gathering, interface, value, err);
            if (rv != 0)
                break;
        }
    }
    json_decref(root);
    return rv;
}

int subnet_neighbors_read(struct subnet_neighbors *neighbors, const char *node, const char *text,
                          size_t length, struct error *err)
{
    json_error_t bad;
    json_t *root = json_loadb(text, length, 0, &bad);

    if (!root)
        return error_set(err, "line %d: %s", bad.line, bad.text);
    return take_node(neighbors, node, root, err);
}

static int read_node(struct subnet_neighbors *gathering, const char *path, const char *node,
                     struct error *err)
{
    int fd = regular_file_open(path, err);
    json_error_t bad;
    json_t *root;

    if (fd < 0)
        return -1;
    root = json_loadfd(fd, 0, &bad);
    close(fd);
    if (!root)
        return error_set(err, "%s:%d: %s", path, bad.line, bad.text);
    return take_node(gathering, node, root, err) == 0 ? 0 : error_prefix(err, "%s", path);
}

static int is_json(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return length > 5 && entry->d_name[0] != '.' &&
           strcmp(entry->d_name + length - 5, ".json") == 0;
}

static int gather(struct subnet_neighbors *gathering, const char *directory, struct error *err)
{
    struct dirent **entries = NULL;
    int count = scandir(directory, &entries, is_json, alphasort), rv = 0;

    if (count < 0)
        return error_set(err, "%s: %m", directory);
    if (count == 0)
        rv = error_set(err, "%s: no NODE.json in it", directory);
    for (int i = 0; i < count; i++) {
        char path[4096], node[256];

        snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name);
        snprintf(node, sizeof node, "%.*s", (int)strlen(entries[i]->d_name) - 5,
                 entries[i]->d_name);
        if (rv == 0)
            rv = read_node(gathering, path, node, err);
        free(entries[i]);
    }
    free(entries);
    return rv;
}

static int by_node(const void *a, const void *b)
{
    const struct subnet_neighbor *one = a, *other = b;

    return one->node - other->node ?: strcmp(one->interface, other->interface);
}

/* Compares indexes of context's items, by chassis and port. */
static int by_port(const void *a, const void *b, void *context)
{
    const struct subnet_neighbor *items = context;
    size_t first = *(const size_t *)a, second = *(const size_t *)b;

    return strcmp(items[first].chassis, items[second].chassis)
           ?: strcmp(items[first].port, items[second].port) ?: COMPARE(first, second);
}

static bool is_one_device(const struct subnet_neighbor *a, const struct subnet_neighbor *b,
                          bool is_node_side)
{
    return is_node_side ? a->node == b->node : strcmp(a->chassis, b->chassis) == 0;
}

/* Adds the devices of one side, with a port for each item: two cables never share a port, even if a
 * switch gives several ports one name. order: of the items, by device, then port. port_of: [item],
 * its index in the subnet's ports. */
static int add_side(struct subnet *subnet, const struct subnet_neighbors *gathering,
                    bool is_node_side, const size_t *order, int *port_of, struct error *err)
{
    const struct subnet_neighbor *items = gathering->items;

    for (size_t i = 0, end; i < gathering->count; i = end) {
        const struct subnet_neighbor *first = &items[order[i]];
        const char *name = is_node_side ? gathering->nodes.names[first->node] : first->name;
        int device;

        for (end = i + 1;
             end < gathering->count && is_one_device(first, &items[order[end]], is_node_side);)
            end++;
        device = subnet_add(subnet, is_node_side ? SUBNET_ADAPTER : SUBNET_SWITCH, 0,
                            is_node_side ? name : first->chassis, name, (int)(end - i), err);
        if (device < 0)
            return -1;
        for (size_t k = i; k < end; k++) {
            const struct subnet_neighbor *item = &items[order[k]];
            struct subnet_port *port = subnet_port(subnet, device, (int)(k - i) + 1);

            subnet_copy_text(is_node_side ? item->interface : item->port, port->label,
                             sizeof port->label);
            port->active = item->rate;
            port_of[order[k]] = (int)(port - subnet->ports);
        }
    }
    return 0;
}

/* Adds the nodes that see no switch, without a port. */
static int add_mute_nodes(struct subnet *subnet, const struct subnet_neighbors *gathering,
                          struct error *err)
{
    size_t next = 0; /* the items are by node */

    for (size_t i = 0; i < gathering->nodes.count; i++) {
        const char *name = gathering->nodes.names[i];
        size_t first = next;

        while (next < gathering->count && gathering->items[next].node == (int)i)
            next++;
        if (next == first && subnet_add(subnet, SUBNET_ADAPTER, 0, name, name, 0, err) < 0)
            return -1;
    }
    return 0;
}

int subnet_neighbors_build(struct subnet_neighbors *gathering, struct subnet *subnet,
                           struct error *err)
{
    size_t count = gathering->count, *order = malloc((count + 1) * sizeof *order);
    int *ports = calloc(2 * count + 1, sizeof *ports); /* of switches, then of nodes */
    int rv = order && ports ? 0 : error_set(err, "no memory");

    subnet->is_ethernet = true;
    if (rv == 0 && count > 0) {
        qsort(gathering->items, count, sizeof *gathering->items, by_node);
        for (size_t i = 0; i < count; i++)
            order[i] = i;
        qsort_r(order, count, sizeof *order, by_port, gathering->items);
        rv = add_side(subnet, gathering, false, order, ports, err);
        for (size_t i = 0; i < count; i++)
            order[i] = i;
    }
    if (rv == 0)
        rv = add_side(subnet, gathering, true, order, ports + count, err);
    if (rv == 0)
        rv = add_mute_nodes(subnet, gathering, err);
    for (size_t i = 0; rv == 0 && i < count; i++)
        rv = subnet_link(subnet, &subnet->ports[ports[count + i]], &subnet->ports[ports[i]], err);
    free(order);
    free(ports);
    return rv;
}

int subnet_read_lldp(const char *directory, struct subnet *subnet, struct error *err)
{
    struct subnet_neighbors gathering = {0};
    int rv = gather(&gathering, directory, err);

    snprintf(subnet->source, sizeof subnet->source, "%s", directory);
    if (rv == 0)
        rv = subnet_neighbors_build(&gathering, subnet, err);
    subnet_neighbors_clear(&gathering);
    return rv;
}
