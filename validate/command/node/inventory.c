/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/node/inventory.h"
#include "lib/base/text.h"
#include "lib/fabric/fabric.h"
#include "lib/node/gpu/vendor.h"
#include "validate/command/command.h"
#include "validate/command/jsontext.h"
#include "validate/report/table.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Texts for people. A negative number is unknown. */

static struct text_line mbps_text(double mbps)
{
    if (mbps < 0)
        return text_line("-");
    return mbps >= 1000 ? text_line("%.10g Gb/s", mbps / 1000) : text_line("%.10g Mb/s", mbps);
}

static struct text_line memory_text(long long bytes)
{
    return bytes < 0 ? text_line("-") : text_line("%.0f GiB", (double)bytes / (1 << 30));
}

static struct text_line number_text(long long number)
{
    return number < 0 ? text_line("-") : text_line("%lld", number);
}

static const char *text_or_dash(const char *text)
{
    return text[0] ? text : "-";
}

static struct text_line pcie_text(const struct location *location)
{
    if (location->link_width < 0 || location->link_speed_gtps < 0)
        return text_line("-");
    if (location_width_limit(location) > location->link_width ||
        location_speed_limit(location) > location->link_speed_gtps)
        return text_line("x%d %g GT/s of x%d %g", location->link_width, location->link_speed_gtps,
                         location_width_limit(location), location_speed_limit(location));
    return text_line("x%d %g GT/s", location->link_width, location->link_speed_gtps);
}

static const char *nic_state(const struct nic *nic)
{
    return !nic->is_up ? "down" : nic->has_carrier ? "up" : "no carrier";
}

static const char *nic_role(const struct nic *nic, const struct fabric *fabric)
{
    for (size_t i = 0; i < fabric->rail_count; i++)
        if (fabric->rails[i].nic == nic)
            return nic == fabric->management ? "fabric, management" : "fabric";
    return nic == fabric->management ? "management" : "-";
}

static const char *addresses_text(const struct nic *nic, char *text, size_t size)
{
    *text = '\0';
    for (size_t i = 0; i < nic->address_count; i++)
        text_join(text, size, " ", "%s", nic->addresses[i]);
    return text_or_dash(text);
}

static void print_nics(const struct inventory *inventory, const struct fabric *fabric)
{
    struct table table = {0};
    char addresses[INVENTORY_ADDRESSES * INVENTORY_NAME];

    table_heading(&table, "NIC\tROLE\tSTATE\tSPEED\tMTU\tDRIVER\tPCI\tNUMA\tADDRESSES");
    for (size_t i = 0; i < inventory->nic_count; i++) {
        const struct nic *nic = &inventory->nics[i];

        table_cells(&table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", nic->name, nic_role(nic, fabric),
                    nic_state(nic), mbps_text(nic->speed_mbps).text,
                    number_text(nic->mtu_bytes).text, text_or_dash(nic->driver),
                    text_or_dash(nic->location.pci), number_text(nic->location.numa_node).text,
                    addresses_text(nic, addresses, sizeof addresses));
    }
    table_end(&table, stdout, "\n");
}

static int port_gid_index(const struct rdma_port *port, const struct fabric *fabric)
{
    for (size_t i = 0; i < fabric->rail_count; i++)
        if (fabric->rails[i].port == port)
            return fabric->rails[i].gid_index;
    return -1;
}

static void print_rdma(const struct inventory *inventory, const struct fabric *fabric)
{
    struct table table = {0};

    table_heading(&table, "RDMA\tLAYER\tSTATE\tRATE\tNIC\tGID\tFIRMWARE\tPCI\tPCIE\tNUMA");
    for (size_t i = 0; i < inventory->rdma_count; i++) {
        const struct rdma_port *port = &inventory->rdma[i];

        table_cells(&table, "%s:%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", port->device, port->port,
                    link_layer_name(port->link_layer), text_or_dash(port->state),
                    mbps_text(port->rate_gbps < 0 ? -1 : port->rate_gbps * 1000).text,
                    text_or_dash(port->netdev), number_text(port_gid_index(port, fabric)).text,
                    text_or_dash(port->firmware), text_or_dash(port->location.pci),
                    pcie_text(&port->location).text, number_text(port->location.numa_node).text);
    }
    table_end(&table, stdout, "\n");
}

/* Returns why a GID is used or not; gid_rank() of the fabric ranks them so. */
static const char *gid_use(const struct rail *rail, const struct gid *gid)
{
    bool is_ucx = rail_ucx_gid_index(rail) == gid->index;

    if (rail->gid_index == gid->index && is_ucx)
        return strncmp(gid->gid, "0000:0000:0000:0000:0000:ffff:", 30) == 0
                   ? "best: RoCE v2 over IPv4"
                   : "best there is";
    if (rail->gid_index == gid->index)
        return "best: RoCE v2 over IPv4, not for UCX on soft-RoCE";
    if (is_ucx)
        return "UCX: soft-RoCE takes its datagrams with link-local";
    if (gid->type == GID_ROCE_V1)
        return "RoCE v1 is not routed";
    return strncmp(gid->gid, "fe80:", 5) == 0 ? "link-local is not routed" : "-";
}

static void print_gids(const struct fabric *fabric)
{
    struct table table = {0};

    table_heading(&table, "GIDS\tINDEX\tTYPE\tNIC\tGID\tUSE");
    for (size_t i = 0; i < fabric->rail_count; i++) {
        const struct rail *rail = &fabric->rails[i];

        if (rail->class != FABRIC_ROCE_V1 && rail->class != FABRIC_ROCE_V2)
            continue;
        for (size_t j = 0; rail->port && j < rail->port->gid_count; j++) {
            const struct gid *gid = &rail->port->gids[j];

            table_cells(&table, "%s\t%d\t%s\t%s\t%s\t%s", rail->name, gid->index,
                        gid_type_name(gid->type), text_or_dash(gid->netdev), gid->gid,
                        gid_use(rail, gid));
        }
    }
    table_end(&table, stdout, "\n");
}

static void print_gpus(const struct inventory *inventory)
{
    struct table table = {0};

    table_heading(&table, "GPU\tVENDOR\tMODEL\tDRIVER\tDEVICE\tMEMORY\tPCIE\tNUMA\tSTATE");
    for (size_t i = 0; i < inventory->gpu_count; i++) {
        const struct gpu *gpu = &inventory->gpus[i];

        table_cells(&table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", gpu->location.pci,
                    gpu_vendor_name(gpu->vendor), gpu->model, text_or_dash(gpu->driver),
                    text_or_dash(gpu->device_file), memory_text(gpu->memory_bytes).text,
                    pcie_text(&gpu->location).text, number_text(gpu->location.numa_node).text,
                    text_or_dash(gpu->state));
    }
    table_end(&table, stdout, "\n");
}

static void print_drivers(const struct inventory *inventory)
{
    for (int vendor = GPU_OTHER + 1; vendor < GPU_VENDORS; vendor++)
        if (inventory->gpu_drivers[vendor][0])
            printf(", %s %s", gpu_vendor_info((enum gpu_vendor)vendor)->driver,
                   inventory->gpu_drivers[vendor]);
}

static void print_people(const struct inventory *inventory, const struct fabric *fabric)
{
    printf("node    %s: kernel %s, %s CPUs, %s NUMA node%s, %s", text_or_dash(inventory->hostname),
           text_or_dash(inventory->kernel), number_text(inventory->cpu_count).text,
           number_text(inventory->numa_node_count).text, text_plural(inventory->numa_node_count),
           memory_text(inventory->memory_bytes).text);
    print_drivers(inventory);
    printf("\nfabric  %s: %s\n", fabric_class_name(fabric->class), fabric->reason);
    print_nics(inventory, fabric);
    print_rdma(inventory, fabric);
    print_gids(fabric);
    print_gpus(inventory);
}

/* Unknown values are absent from the JSON. */

static void put_text(json_t *object, const char *key, const char *text)
{
    if (text[0])
        json_object_set_new(object, key, jsontext(text));
}

static void put_number(json_t *object, const char *key, long long number)
{
    if (number >= 0)
        json_object_set_new(object, key, json_integer(number));
}

static void put_real(json_t *object, const char *key, double number)
{
    if (number >= 0)
        json_object_set_new(object, key, json_real(number));
}

static void put_bool(json_t *object, const char *key, bool value)
{
    json_object_set_new(object, key, json_boolean(value));
}

static void put_location(json_t *object, const struct location *location)
{
    put_text(object, "pci", location->pci);
    put_text(object, "pci_path", location->path);
    put_number(object, "numa_node", location->numa_node);
    put_real(object, "pcie_speed_gtps", location->link_speed_gtps);
    put_real(object, "pcie_speed_max_gtps", location->link_speed_max_gtps);
    put_number(object, "pcie_width", location->link_width);
    put_number(object, "pcie_width_max", location->link_width_max);
}

static json_t *nic_json(const struct nic *nic)
{
    json_t *object = json_object(), *addresses = json_array();

    put_text(object, "name", nic->name);
    put_text(object, "driver", nic->driver);
    put_text(object, "bus", nic->bus);
    put_location(object, &nic->location);
    put_text(object, "master", nic->master);
    put_bool(object, "physical", nic->is_physical);
    put_bool(object, "virtual_function", nic->is_virtual_function);
    put_text(object, "mac", nic->mac);
    put_number(object, "arp_type", nic->arp_type);
    put_number(object, "speed_mbps", nic->speed_mbps);
    put_number(object, "mtu_bytes", nic->mtu_bytes);
    put_bool(object, "up", nic->is_up);
    put_bool(object, "carrier", nic->has_carrier);
    put_text(object, "state", nic->state);
    put_number(object, "carrier_changes", nic->carrier_changes);
    put_bool(object, "default_route", nic->has_default_route);
    for (size_t i = 0; i < nic->address_count; i++)
        json_array_append_new(addresses, jsontext(nic->addresses[i]));
    json_object_set_new(object, "addresses", addresses);
    return object;
}

static json_t *gid_json(const struct gid *gid)
{
    json_t *object = json_object();

    put_number(object, "index", gid->index);
    put_text(object, "type", gid_type_name(gid->type));
    put_text(object, "gid", gid->gid);
    put_text(object, "netdev", gid->netdev);
    return object;
}

static json_t *port_json(const struct rdma_port *port)
{
    json_t *object = json_object(), *gids = json_array();

    put_text(object, "device", port->device);
    put_number(object, "port", port->port);
    put_text(object, "driver", port->driver);
    put_text(object, "node_type", port->node_type);
    put_text(object, "firmware", port->firmware);
    put_location(object, &port->location);
    put_bool(object, "virtual_function", port->is_virtual_function);
    put_bool(object, "software", port->is_software);
    put_text(object, "link_layer", link_layer_name(port->link_layer));
    put_text(object, "state", port->state);
    put_text(object, "phys_state", port->phys_state);
    put_real(object, "rate_gbps", port->rate_gbps);
    put_number(object, "lid", port->lid);
    put_number(object, "sm_lid", port->sm_lid);
    put_text(object, "netdev", port->netdev);
    for (size_t i = 0; i < port->gid_count; i++)
        json_array_append_new(gids, gid_json(&port->gids[i]));
    json_object_set_new(object, "gids", gids);
    return object;
}

static json_t *gpu_json(const struct gpu *gpu)
{
    json_t *object = json_object();

    put_text(object, "vendor", gpu_vendor_name(gpu->vendor));
    put_location(object, &gpu->location);
    put_text(object, "driver", gpu->driver);
    put_text(object, "model", gpu->model);
    put_text(object, "serial", gpu->serial);
    put_text(object, "firmware", gpu->firmware);
    put_text(object, "device_file", gpu->device_file);
    put_text(object, "state", gpu->state);
    put_number(object, "memory_bytes", gpu->memory_bytes);
    put_number(object, "ecc_uncorrected", gpu->ecc_uncorrected);
    put_number(object, "ecc_corrected", gpu->ecc_corrected);
    put_number(object, "reset_count", gpu->reset_count);
    put_text(object, "fabric_id", gpu->fabric_id);
    return object;
}

static json_t *rail_json(const struct rail *rail)
{
    json_t *object = json_object();

    put_text(object, "name", rail->name);
    put_text(object, "class", fabric_class_name(rail->class));
    if (rail->nic)
        put_text(object, "nic", rail->nic->name);
    put_real(object, "nominal_mbps", rail->nominal_mbps);
    put_text(object, "nominal_source", rail->nominal_source);
    put_number(object, "gid_index", rail->gid_index);
    put_bool(object, "up", rail_is_up(rail));
    return object;
}

static json_t *fabric_json(const struct fabric *fabric)
{
    json_t *object = json_object(), *rails = json_array();

    put_text(object, "class", fabric_class_name(fabric->class));
    put_text(object, "reason", fabric->reason);
    if (fabric->management)
        put_text(object, "management", fabric->management->name);
    for (size_t i = 0; i < fabric->rail_count; i++)
        json_array_append_new(rails, rail_json(&fabric->rails[i]));
    json_object_set_new(object, "rails", rails);
    return object;
}

static void put_drivers(json_t *object, const struct inventory *inventory)
{
    for (int vendor = GPU_OTHER + 1; vendor < GPU_VENDORS; vendor++) {
        const struct gpu_vendor_info *info = gpu_vendor_info((enum gpu_vendor)vendor);

        if (info->driver)
            put_text(object, text_line("%s_driver", info->driver).text,
                     inventory->gpu_drivers[vendor]);
    }
}

static json_t *inventory_json(const struct inventory *inventory, const struct fabric *fabric)
{
    json_t *object = json_object(), *nics = json_array(), *rdma = json_array(),
           *gpus = json_array();

    put_text(object, "hostname", inventory->hostname);
    put_text(object, "kernel", inventory->kernel);
    put_text(object, "boot_id", inventory->boot_id);
    put_number(object, "cpu_count", inventory->cpu_count);
    put_number(object, "numa_node_count", inventory->numa_node_count);
    put_bool(object, "virtual_machine", inventory->is_virtual_machine);
    put_number(object, "memory_bytes", inventory->memory_bytes);
    put_drivers(object, inventory);
    json_object_set_new(object, "fabric", fabric_json(fabric));
    for (size_t i = 0; i < inventory->nic_count; i++)
        json_array_append_new(nics, nic_json(&inventory->nics[i]));
    for (size_t i = 0; i < inventory->rdma_count; i++)
        json_array_append_new(rdma, port_json(&inventory->rdma[i]));
    for (size_t i = 0; i < inventory->gpu_count; i++)
        json_array_append_new(gpus, gpu_json(&inventory->gpus[i]));
    json_object_set_new(object, "nics", nics);
    json_object_set_new(object, "rdma", rdma);
    json_object_set_new(object, "gpus", gpus);
    return object;
}

int inventory_write_json(const struct inventory *inventory, const struct fabric *fabric,
                         FILE *stream)
{
    return jsontext_print(stream, JSON_INDENT(2), inventory_json(inventory, fabric));
}

static const struct option_row rows[] = {
    COMMAND_CONFIG(struct node_options),
    OPTION('j', "json", NULL, "print one JSON object; unknown values are absent", FLAG,
           OPTION_FIELD(struct node_options, as_json)),
    COMMAND_ROOT(struct node_options),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster inventory",
    .summary = "Prints the hardware of this node: interfaces, RDMA ports and GPUs, and which of "
               "them belong to the fabric, and why. Reads only /sys and /proc.",
    .status = "0 printed, 2 usage, 3 cannot read the node.",
    .rows = rows,
};

static int print(const struct node_options *options, const struct node_view *node_view)
{
    if (options->as_json)
        return inventory_write_json(node_view->inventory, &node_view->fabric, stdout) < 0
                   ? COMMAND_UNKNOWN
                   : COMMAND_PASS;
    print_people(node_view->inventory, &node_view->fabric);
    return COMMAND_PASS;
}

int command_inventory(int argc, char **argv)
{
    return command_on_node(&set, argc, argv, print);
}
