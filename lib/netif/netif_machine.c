/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/netif/netif_machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/node/inventory.h"
#include "lib/netif/dcb.h"
#include "lib/netif/netlink.h"
#include "lib/base/sysfs.h"

/* The sysctls (Linux include/net/ip_fib.h, inetdevice.h): IN_DEV_MAXCONF for arp_ignore,
 * arp_announce and rp_filter, IN_DEV_ORCONF for arp_filter and accept_local. */
#define SYSCTL "proc/sys/net/ipv4/conf/%s/%s"
#define RDMA_CM "sys/kernel/config/rdma_cm"

struct machine {
    char root[256];
    struct netlink netlink;
    struct inventory *inventory; /* read when an RDMA port is first needed */
};

static bool is_sysctl(enum netif_setting setting)
{
    return setting >= NETIF_ARP_IGNORE && setting <= NETIF_ACCEPT_LOCAL;
}

static bool is_dcb(enum netif_setting setting)
{
    return setting == NETIF_PFC || netif_is_dscp(setting);
}

static int find(void *context, const char *name, int *index, char found_name[NETIF_NAME],
                struct error *err)
{
    struct machine *machine = context;
    struct netlink_link link;

    if (netlink_get(&machine->netlink, name, *index, &link, err) != 0)
        return errno == ENODEV ? 1 : -1;
    *index = link.index;
    strcpy(found_name, link.name);
    return 0;
}

/* ---------------------------------------------------------------- files */

/* Writes a value into an existing file. */
static int put_file(const struct machine *machine, const char *path, const char *value,
                    struct error *err)
{
    size_t length = strlen(value);
    char full[SYSFS_PATH];
    int fd, result = 0;
    ssize_t put;

    if (sysfs_path(machine->root, full, sizeof full, "%s", path) != 0)
        return error_set(err, "%s: the path is too long", path);
    fd = open(full, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return error_set(err, "/%s: %m", path);
    put = write(fd, value, length);
    if (put != (ssize_t)length) {
        if (put >= 0)
            errno = EIO;
        result = error_set(err, "%m");
    }
    close(fd);
    return result;
}

static int get_sysctl(const struct machine *machine, const char *interface,
                      enum netif_setting setting, long *value, struct error *err)
{
    long long number = sysfs_number(machine->root, SYSCTL, interface, netif_setting_name(setting));

    if (number < 0)
        return error_set(err, "/" SYSCTL " cannot be read", interface, netif_setting_name(setting));
    *value = (long)number;
    return 0;
}

static int set_sysctl(const struct machine *machine, const char *interface,
                      enum netif_setting setting, long value, struct error *err)
{
    char path[128], text[32];

    snprintf(path, sizeof path, SYSCTL, interface, netif_setting_name(setting));
    snprintf(text, sizeof text, "%ld\n", value);
    return put_file(machine, path, text, err);
}

static long effective(void *context, enum netif_setting setting, long value)
{
    long all = value;

    if (!is_sysctl(setting) || get_sysctl(context, "all", setting, &all, NULL) != 0 || all < value)
        return value;
    return all;
}

/* ---------------------------------------------------------------- RoCE */

/* Returns the RDMA port of the interface, or NULL with err. */
static const struct rdma_port *find_port(struct machine *machine, const char *interface,
                                         struct error *err)
{
    const struct rdma_port *port;

    if (!machine->inventory)
        machine->inventory = inventory_read(machine->root, err);
    if (!machine->inventory)
        return NULL;
    port = inventory_rdma_of(machine->inventory, interface);
    if (!port)
        error_set(err, "it has no RDMA port");
    return port;
}

/* Formats the paths of rdma_cm's files of the interface: directory "rdma_cm/mlx5_0", ports
 * "…/ports/1". */
static int find_roce(struct machine *machine, const char *interface, char *directory, char *ports,
                     size_t size, struct error *err)
{
    const struct rdma_port *port = find_port(machine, interface, err);

    if (!port)
        return -1;
    if (!sysfs_exists(machine->root, RDMA_CM))
        return error_set(err,
                         "/" RDMA_CM " does not exist; load the module rdma_cm and mount configfs");
    snprintf(directory, size, RDMA_CM "/%s", port->device);
    snprintf(ports, size, RDMA_CM "/%s/ports/%d", port->device, port->port);
    return 0;
}

static int get_roce(struct machine *machine, const char *interface, enum netif_setting setting,
                    long *value, struct error *err)
{
    char directory[160], ports[192], text[64];
    long long number;

    if (find_roce(machine, interface, directory, ports, sizeof directory, err) != 0)
        return -1;
    if (setting == NETIF_ROCE_CONFIG) {
        *value = sysfs_exists(machine->root, "%s", directory);
        return 0;
    }
    if (setting == NETIF_ROCE_TOS) {
        number = sysfs_number(machine->root, "%s/default_roce_tos", ports);
        if (number < 0 || number > 255)
            return error_set(err, "/%s/default_roce_tos cannot be read", ports);
        *value = (long)number;
        return 0;
    }
    if (sysfs_line(machine->root, text, sizeof text, "%s/default_roce_mode", ports) != 0)
        return error_set(err, "/%s/default_roce_mode: %m", ports);
    *value = strcmp(text, "RoCE v2") == 0                                      ? 2
             : strcmp(text, "IB/RoCE v1") == 0 || strcmp(text, "RoCE v1") == 0 ? 1
                                                                               : 0;
    if (*value == 0)
        return error_set(err, "/%s/default_roce_mode: found \"%s\", expected RoCE v1 or v2", ports,
                         text);
    return 0;
}

/* Makes or removes the directory of a device; the kernel makes and removes its files. */
static int set_roce_config(const struct machine *machine, const char *directory, long value,
                           struct error *err)
{
    char full[SYSFS_PATH];

    if (sysfs_path(machine->root, full, sizeof full, "%s", directory) != 0)
        return error_set(err, "%s: the path is too long", directory);
    if ((value ? mkdir(full, 0755) : rmdir(full)) != 0)
        return error_set(err, "/%s: %m", directory);
    return 0;
}

static int set_roce(struct machine *machine, const char *interface, enum netif_setting setting,
                    long value, struct error *err)
{
    char directory[160], ports[192], path[256], text[32];

    if (find_roce(machine, interface, directory, ports, sizeof directory, err) != 0)
        return -1;
    if (setting == NETIF_ROCE_CONFIG)
        return set_roce_config(machine, directory, value, err);
    if (setting == NETIF_ROCE_TOS) {
        snprintf(path, sizeof path, "%s/default_roce_tos", ports);
        snprintf(text, sizeof text, "%ld\n", value);
        return put_file(machine, path, text, err);
    }
    snprintf(path, sizeof path, "%s/default_roce_mode", ports);
    if (value == 2)
        return put_file(machine, path, "RoCE v2\n", err);
    /* the kernel's name for v1, then the name in the vendor's drivers */
    if (put_file(machine, path, "IB/RoCE v1\n", err) == 0)
        return 0;
    return put_file(machine, path, "RoCE v1\n", err);
}

/* Formats the path "sys/class/infiniband/mlx5_0/tc/1/traffic_class". */
static int find_traffic_class(struct machine *machine, const char *interface, char *path,
                              size_t size, struct error *err)
{
    const struct rdma_port *port = find_port(machine, interface, err);

    if (!port)
        return -1;
    snprintf(path, size, "sys/class/infiniband/%s/tc/%d/traffic_class", port->device, port->port);
    if (!sysfs_exists(machine->root, "%s", path))
        return error_set(
            err, "/%s does not exist: only NVIDIA's own driver (MLNX_OFED, DOCA) has it", path);
    return 0;
}

/* Reads the file's first line, "Global tclass=106" if it is set. Rules by address follow, which are
 * not changed (traffic_class_show() and _store() of MLNX_OFED's drivers/infiniband/hw/mlx5). */
static int get_traffic_class(struct machine *machine, const char *interface, long *value,
                             struct error *err)
{
    static const char word[] = "Global tclass=";
    char path[160], text[64], *end;

    if (find_traffic_class(machine, interface, path, sizeof path, err) != 0)
        return -1;
    *value = -1;
    if (sysfs_line(machine->root, text, sizeof text, "%s", path) != 0)
        return error_set(err, "/%s: %m", path);
    if (strncmp(text, word, strlen(word)) != 0)
        return 0;
    *value = strtol(text + strlen(word), &end, 10);
    if (end == text + strlen(word) || *end || *value < 0 || *value > 255)
        return error_set(err, "/%s: found \"%s\", expected a number from 0 to 255", path, text);
    return 0;
}

static int set_traffic_class(struct machine *machine, const char *interface, long value,
                             struct error *err)
{
    char path[160], text[32];

    if (find_traffic_class(machine, interface, path, sizeof path, err) != 0)
        return -1;
    snprintf(text, sizeof text, "%ld\n", value);
    return put_file(machine, path, text, err);
}

/* ---------------------------------------------------------------- all of them */

static int get(void *context, const char *name, int index, enum netif_setting setting, long *value,
               struct error *err)
{
    struct machine *machine = context;
    struct netlink_rings rings;
    struct netlink_link link;

    if (is_sysctl(setting))
        return get_sysctl(machine, name, setting, value, err);
    if (is_dcb(setting))
        return dcb_get(&machine->netlink, name, setting, value, err);
    switch (setting) {
    case NETIF_RX_RING:
    case NETIF_TX_RING:
        if (netlink_get_rings(&machine->netlink, name, &rings, err) != 0)
            return -1;
        *value = setting == NETIF_RX_RING ? rings.rx : rings.tx;
        return 0;
    case NETIF_ROCE_CONFIG:
    case NETIF_ROCE_MODE:
    case NETIF_ROCE_TOS:
        return get_roce(machine, name, setting, value, err);
    case NETIF_TRAFFIC_CLASS:
        return get_traffic_class(machine, name, value, err);
    default:
        break;
    }
    if (netlink_get(&machine->netlink, NULL, index, &link, err) != 0)
        return -1;
    *value = setting == NETIF_UP    ? link.is_up
             : setting == NETIF_MTU ? link.mtu_bytes
                                    : link.queue_packets;
    return 0;
}

/* Makes the setting. If the value is above the driver's limit, err begins with the limit. */
static int set(void *context, const char *name, int index, enum netif_setting setting, long value,
               struct error *err)
{
    struct machine *machine = context;
    struct netlink_rings rings;
    struct netlink_link link;
    struct error limit;

    if (is_sysctl(setting))
        return set_sysctl(machine, name, setting, value, err);
    if (is_dcb(setting))
        return dcb_set(&machine->netlink, name, setting, value, err);
    switch (setting) {
    case NETIF_RX_RING:
    case NETIF_TX_RING:
        if (netlink_set_ring(&machine->netlink, name, setting, value, err) == 0)
            return 0;
        if (netlink_get_rings(&machine->netlink, name, &rings, &limit) == 0 &&
            value > (setting == NETIF_RX_RING ? rings.rx_max : rings.tx_max))
            error_prefix(err, "limit %ld", setting == NETIF_RX_RING ? rings.rx_max : rings.tx_max);
        return -1;
    case NETIF_ROCE_CONFIG:
    case NETIF_ROCE_MODE:
    case NETIF_ROCE_TOS:
        return set_roce(machine, name, setting, value, err);
    case NETIF_TRAFFIC_CLASS:
        return set_traffic_class(machine, name, value, err);
    default:
        break;
    }
    if (netlink_set(&machine->netlink, index, setting, value, err) == 0)
        return 0;
    if (setting == NETIF_MTU && netlink_get(&machine->netlink, NULL, index, &link, &limit) == 0 &&
        link.mtu_max_bytes > 0 && value > link.mtu_max_bytes)
        error_prefix(err, "limit %ld", link.mtu_max_bytes);
    return -1;
}

static int has_address(void *context, int index, const char *wanted, struct error *err)
{
    struct machine *machine = context;

    return netlink_has_address(&machine->netlink, index, wanted, err);
}

int netif_machine_open(struct netif_machine *machine, const char *root, struct error *err)
{
    struct machine *context = calloc(1, sizeof *context);

    if (!context)
        return error_set(err, "out of memory");
    *machine = (struct netif_machine){context, "", find, get, set, has_address, effective};
    snprintf(context->root, sizeof context->root, "%s", root ? root : "");
    if (netlink_open(&context->netlink, err) != 0) {
        free(context);
        return -1;
    }
    if (sysfs_line(root, machine->boot_id, sizeof machine->boot_id,
                   "proc/sys/kernel/random/boot_id") != 0) {
        error_set(err, "/proc/sys/kernel/random/boot_id: %m");
        netif_machine_close(machine);
        return -1;
    }
    return 0;
}

void netif_machine_close(struct netif_machine *machine)
{
    struct machine *context = machine->context;

    if (!context)
        return;
    netlink_close(&context->netlink);
    inventory_free(context->inventory);
    free(context);
    machine->context = NULL;
}
