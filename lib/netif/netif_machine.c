/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/netif/netif_machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/sysfs.h"
#include "lib/netif/dcb.h"
#include "lib/netif/netlink.h"
#include "lib/node/inventory.h"

enum { FILE_PATH = 256 };
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

static bool is_file(enum netif_setting setting)
{
    return is_sysctl(setting) || (setting >= NETIF_ROCE_CONFIG && setting <= NETIF_TRAFFIC_CLASS);
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

/* Formats the path of the setting's file; of the directory that exists for NETIF_ROCE_CONFIG. */
static int find_file(struct machine *machine, const char *interface, enum netif_setting setting,
                     char path[FILE_PATH], struct error *err)
{
    const struct rdma_port *port;

    if (is_sysctl(setting)) {
        snprintf(path, FILE_PATH, "proc/sys/net/ipv4/conf/%s/%s", interface,
                 netif_setting_name(setting));
        return 0;
    }
    port = find_port(machine, interface, err);
    if (!port)
        return -1;
    if (setting == NETIF_TRAFFIC_CLASS) {
        snprintf(path, FILE_PATH, "sys/class/infiniband/%s/tc/%d/traffic_class", port->device,
                 port->port);
        if (!sysfs_exists(machine->root, "%s", path))
            return error_set(
                err, "/%s does not exist: only NVIDIA's own driver (MLNX_OFED, DOCA) has it", path);
        return 0;
    }
    if (!sysfs_exists(machine->root, RDMA_CM))
        return error_set(err,
                         "/" RDMA_CM " does not exist; load the module rdma_cm and mount configfs");
    if (setting == NETIF_ROCE_CONFIG)
        snprintf(path, FILE_PATH, RDMA_CM "/%s", port->device);
    else
        snprintf(path, FILE_PATH, RDMA_CM "/%s/ports/%d/default_roce_%s", port->device, port->port,
                 setting == NETIF_ROCE_TOS ? "tos" : "mode");
    return 0;
}

/* Parses "Global tclass=106", the first line of the file if a class is set. Rules by address
 * follow, which are not changed (traffic_class_show() and _store() of MLNX_OFED's
 * drivers/infiniband/hw/mlx5). */
static int parse_traffic_class(const char *path, const char *text, long *value, struct error *err)
{
    static const char word[] = "Global tclass=";
    const char *number = text + strlen(word);
    char *end;

    *value = -1;
    if (strncmp(text, word, strlen(word)) != 0)
        return 0;
    *value = strtol(number, &end, 10);
    if (end == number || *end || *value < 0 || *value > 255)
        return error_set(err, "/%s: found \"%s\", expected a number from 0 to 255", path, text);
    return 0;
}

static int get_file(struct machine *machine, const char *interface, enum netif_setting setting,
                    long *value, struct error *err)
{
    char path[FILE_PATH], text[64];
    long long number;

    if (find_file(machine, interface, setting, path, err) != 0)
        return -1;
    if (setting == NETIF_ROCE_CONFIG) {
        *value = sysfs_exists(machine->root, "%s", path);
        return 0;
    }
    if (is_sysctl(setting) || setting == NETIF_ROCE_TOS) {
        number = sysfs_number(machine->root, "%s", path);
        if (number < 0 || (setting == NETIF_ROCE_TOS && number > 255))
            return error_set(err, "/%s cannot be read", path);
        *value = (long)number;
        return 0;
    }
    if (sysfs_line(machine->root, text, sizeof text, "%s", path) != 0)
        return error_set(err, "/%s: %m", path);
    if (setting == NETIF_TRAFFIC_CLASS)
        return parse_traffic_class(path, text, value, err);
    *value = strcmp(text, "RoCE v2") == 0                                      ? 2
             : strcmp(text, "IB/RoCE v1") == 0 || strcmp(text, "RoCE v1") == 0 ? 1
                                                                               : 0;
    if (*value == 0)
        return error_set(err, "/%s: found \"%s\", expected RoCE v1 or v2", path, text);
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

static int set_file(struct machine *machine, const char *interface, enum netif_setting setting,
                    long value, struct error *err)
{
    char path[FILE_PATH], text[32];

    if (find_file(machine, interface, setting, path, err) != 0)
        return -1;
    if (setting == NETIF_ROCE_CONFIG)
        return set_roce_config(machine, path, value, err);
    if (setting == NETIF_ROCE_MODE && value == 2)
        return put_file(machine, path, "RoCE v2\n", err);
    /* the kernel's name for v1, then the name in the vendor's drivers */
    if (setting == NETIF_ROCE_MODE)
        return put_file(machine, path, "IB/RoCE v1\n", err) == 0
                   ? 0
                   : put_file(machine, path, "RoCE v1\n", err);
    snprintf(text, sizeof text, "%ld\n", value);
    return put_file(machine, path, text, err);
}

/* Linux include/net/ip_fib.h, inetdevice.h: IN_DEV_MAXCONF for arp_ignore, arp_announce and
 * rp_filter, IN_DEV_ORCONF for arp_filter and accept_local. */
static long effective(void *context, enum netif_setting setting, long value)
{
    long all = value;

    if (!is_sysctl(setting) || get_file(context, "all", setting, &all, NULL) != 0 || all < value)
        return value;
    return all;
}

/* ---------------------------------------------------------------- all of them */

static int get(void *context, const char *name, int index, enum netif_setting setting, long *value,
               struct error *err)
{
    struct machine *machine = context;
    struct netlink_rings rings;
    struct netlink_link link;

    if (is_file(setting))
        return get_file(machine, name, setting, value, err);
    if (is_dcb(setting))
        return dcb_get(&machine->netlink, name, setting, value, err);
    if (setting == NETIF_RX_RING || setting == NETIF_TX_RING) {
        if (netlink_get_rings(&machine->netlink, name, &rings, err) != 0)
            return -1;
        *value = setting == NETIF_RX_RING ? rings.rx : rings.tx;
        return 0;
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

    if (is_file(setting))
        return set_file(machine, name, setting, value, err);
    if (is_dcb(setting))
        return dcb_set(&machine->netlink, name, setting, value, err);
    if (setting == NETIF_RX_RING || setting == NETIF_TX_RING) {
        if (netlink_set_ring(&machine->netlink, name, setting, value, err) == 0)
            return 0;
        if (netlink_get_rings(&machine->netlink, name, &rings, &limit) == 0 &&
            value > (setting == NETIF_RX_RING ? rings.rx_max : rings.tx_max))
            error_prefix(err, "limit %ld", setting == NETIF_RX_RING ? rings.rx_max : rings.tx_max);
        return -1;
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
