/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/sysfs.h"
#include "lib/node/inventory-parts.h"

#include <limits.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Kernel ABI: Documentation/ABI/testing/sysfs-class-net */

static int read_int(const char *root, const char *name, const char *file)
{
    long long number = sysfs_number(root, "sys/class/net/%s/%s", name, file);

    return number > INT_MAX ? -1 : (int)number;
}

/* Reads "vlan" from the line DEVTYPE=vlan in uevent; "" for hardware, veth, dummy, ifb. */
static void read_device_type(const char *root, const char *name, char *type, size_t size)
{
    char *text = sysfs_file(root, 4096, "sys/class/net/%s/uevent", name);
    const char *found = text ? strstr(text, "DEVTYPE=") : NULL;

    type[0] = '\0';
    if (found)
        snprintf(type, size, "%.*s", (int)strcspn(found + 8, "\n"), found + 8);
    free(text);
}

/* Reads the interface below nic: sysfs has a link lower_NAME if it is on this node. */
static void read_lower(const char *root, struct nic *nic)
{
    char **names;
    size_t count = sysfs_names(root, &names, "sys/class/net/%s", nic->name);

    for (size_t i = 0; i < count && !nic->lower[0]; i++)
        if (strncmp(names[i], "lower_", 6) == 0)
            snprintf(nic->lower, sizeof nic->lower, "%s", names[i] + 6);
    sysfs_names_free(names, count);
}

/* Returns whether nic is a veth, which sysfs does not report. Unlike a dummy, an ifb or a tunnel,
 * it is an Ethernet interface of no other kind whose peer has another index; or, if the peer in
 * another namespace happens to have the same index, it reports a speed (a veth that is up reports
 * 10000, dummies and ifbs none). */
static bool is_veth(const char *root, const struct nic *nic)
{
    int peer = read_int(root, nic->name, "iflink");

    if (nic->arp_type != ARPHRD_ETHER || nic->driver[0] || peer <= 0 ||
        sysfs_exists(root, "sys/class/net/%s/tun_flags", nic->name) || nic->lower[0])
        return false;
    return nic->index != peer || nic->speed_mbps == 10000;
}

/* Reads the kind of an interface without a device. Bonds and bridges have a directory "bonding" or
 * "bridge", also if uevent has no DEVTYPE. */
static void read_kind(const char *root, struct nic *nic)
{
    read_lower(root, nic);
    read_device_type(root, nic->name, nic->driver, sizeof nic->driver);
    if (sysfs_exists(root, "sys/class/net/%s/bonding", nic->name))
        strcpy(nic->driver, "bond");
    else if (sysfs_exists(root, "sys/class/net/%s/bridge", nic->name))
        strcpy(nic->driver, "bridge");
    else if (is_veth(root, nic))
        strcpy(nic->driver, "veth");
}

static void read_device(const char *root, struct nic *nic)
{
    char device[SYSFS_PATH];

    if (sysfs_path("", device, sizeof device, "sys/class/net/%s/device", nic->name) < 0)
        return;
    sysfs_link(root, nic->driver, sizeof nic->driver, "%s/driver", device + 1);
    sysfs_link(root, nic->bus, sizeof nic->bus, "%s/subsystem", device + 1);
    nic->is_virtual_function = sysfs_exists(root, "%s/physfn", device + 1);
    location_read(root, device + 1, &nic->location);
    if (!nic->bus[0] && nic->location.pci[0])
        strcpy(nic->bus, "pci");
    nic->is_physical = true;
}

static void read_nic(const char *root, const char *name, struct nic *nic)
{
    long long flags = sysfs_number(root, "sys/class/net/%s/flags", name);

    snprintf(nic->name, sizeof nic->name, "%s", name);
    nic->location = LOCATION_UNKNOWN;
    nic->default_route_metric = -1;
    sysfs_line(root, nic->mac, sizeof nic->mac, "sys/class/net/%s/address", name);
    sysfs_line(root, nic->state, sizeof nic->state, "sys/class/net/%s/operstate", name);
    sysfs_link(root, nic->master, sizeof nic->master, "sys/class/net/%s/master", name);
    nic->index = read_int(root, name, "ifindex");
    nic->arp_type = read_int(root, name, "type");
    nic->mtu_bytes = read_int(root, name, "mtu");
    nic->speed_mbps = read_int(root, name, "speed");
    if (nic->speed_mbps == 0 || nic->speed_mbps == 65535) /* "unknown" of old drivers */
        nic->speed_mbps = -1;
    nic->is_up = flags >= 0 && (flags & IFF_UP);
    nic->has_carrier = read_int(root, name, "carrier") == 1;
    nic->carrier_changes = read_int(root, name, "carrier_changes");
    nic->carrier_ups = read_int(root, name, "carrier_up_count");
    if (sysfs_exists(root, "sys/class/net/%s/device", name)) {
        read_device(root, nic);
    } else {
        read_kind(root, nic);
    }
}

static bool has_device(const struct inventory *inventory)
{
    for (size_t i = 0; i < inventory->nic_count; i++)
        if (inventory->nics[i].is_physical)
            return true;
    return false;
}

/* Counts ends of veth pairs as physical: for a container, where no interface has a device. On a
 * host they belong to its containers. */
static void set_veth_physical(const char *root, struct inventory *inventory)
{
    for (size_t i = 0; i < inventory->nic_count; i++) {
        struct nic *nic = &inventory->nics[i];

        nic->is_physical =
            strcmp(nic->driver, "veth") == 0 &&
            !(nic->master[0] && sysfs_exists(root, "sys/class/net/%s/bridge", nic->master));
    }
}

/* Returns whether the interface is the host's end of a container's veth pair, by its index: the
 * kernel counts up, so the interfaces from the node's setup have low numbers. */
static bool is_host_end(const struct nic *nic)
{
    return strcmp(nic->driver, "veth") == 0 && nic->index > INVENTORY_NICS;
}

int nics_read(const char *root, struct inventory *inventory, struct error *err)
{
    char **names;
    size_t count = sysfs_names(root, &names, "sys/class/net"), spare = 0;
    bool fits = true;

    for (size_t i = 0; i < count && fits; i++) {
        struct nic nic = {.name = ""};

        /* /sys/class/net also has plain files, such as bonding_masters */
        if (strlen(names[i]) >= INVENTORY_NAME || strcmp(names[i], "lo") == 0 ||
            !sysfs_exists(root, "sys/class/net/%s/ifindex", names[i]))
            continue;
        read_nic(root, names[i], &nic);
        if (count > INVENTORY_NICS && is_host_end(&nic))
            spare++;
        else if (inventory->nic_count < INVENTORY_NICS)
            inventory->nics[inventory->nic_count++] = nic;
        else
            fits = false;
    }
    sysfs_names_free(names, count);
    if (!has_device(inventory)) {
        set_veth_physical(root, inventory);
        fits = fits && spare == 0;
    }
    return fits ? 0 : error_set(err, "more than %d network interfaces", INVENTORY_NICS);
}
