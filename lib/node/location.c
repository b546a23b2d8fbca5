/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/deferred_error.h"
#include "lib/base/sysfs.h"
#include "lib/node/inventory-parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* dddd:bb:dd.f, where the domain has four to eight digits */
bool location_is_pci(const char *name)
{
    size_t domain = strspn(name, "0123456789abcdefABCDEF");
    const char *rest = name + domain;

    return domain >= 4 && domain <= 8 && rest[0] == ':' && isxdigit((unsigned char)rest[1]) &&
           isxdigit((unsigned char)rest[2]) && rest[3] == ':' && isxdigit((unsigned char)rest[4]) &&
           isxdigit((unsigned char)rest[5]) && rest[6] == '.' && rest[7] >= '0' && rest[7] <= '7' &&
           rest[8] == '\0';
}

/* Finds the PCI function of a device: the directory itself or one above, as for virtio2. Cuts path
 * to the function's path and returns the function's name, or NULL. */
static const char *pci_above(char *path)
{
    for (;;) {
        char *slash = strrchr(path, '/');

        if (!slash)
            return NULL;
        if (location_is_pci(slash + 1))
            return slash + 1;
        *slash = '\0';
    }
}

/* "pci0000:3a" */
static bool is_host_bridge(const char *name)
{
    size_t domain = strncmp(name, "pci", 3) == 0 ? strspn(name + 3, "0123456789abcdef") : 0;

    return domain >= 4 && name[3 + domain] == ':' && isxdigit((unsigned char)name[4 + domain]) &&
           isxdigit((unsigned char)name[5 + domain]) && strcspn(name, "/") == domain + 6;
}

static bool is_function(const char *name)
{
    char text[INVENTORY_NAME];
    size_t length = strcspn(name, "/");

    if (length >= sizeof text)
        return false;
    memcpy(text, name, length);
    text[length] = '\0';
    return location_is_pci(text);
}

/* Copies the part of a PCI function's path from its host bridge on. Bridges, and host bridges
 * behind a function (Intel's VMD), can be in between. The part above differs: /sys/devices of this
 * machine or of a recorded tree, a platform device, a virtual bus. path stays unchanged if there is
 * no host bridge or if it does not fit: a part of a path would be another location. */
static void pci_path(const char *resolved, char *path, size_t size)
{
    const char *begin = NULL;

    for (const char *part = resolved + strlen(resolved); part > resolved;) {
        do
            part--;
        while (part > resolved && part[-1] != '/');
        if (is_host_bridge(part))
            begin = part;
        else if (!is_function(part))
            break;
        part -= part > resolved;
    }
    if (begin && strlen(begin) < size)
        strcpy(path, begin);
}

/* Returns 16 for "16.0 GT/s PCIe", and -1 for "Unknown". */
static double read_speed(const char *device, const char *file)
{
    char text[64], *end;
    double speed;

    if (sysfs_line(NULL, text, sizeof text, "%s/%s", device, file) < 0)
        return -1;
    speed = strtod(text, &end);
    return end == text || !(speed > 0 && speed < 1e6) ? -1 : speed;
}

/* PCIe links have 1 to 32 lanes. Virtual functions report 0, a device that fell off the bus 63 or
 * 255: returns -1 for these. */
static int read_width(const char *device, const char *file)
{
    long long width = sysfs_number(NULL, "%s/%s", device, file);

    return width < 1 || width > 32 ? -1 : (int)width;
}

/* Reads speed and width of the port that the device is plugged into. Cuts the path device. */
static void read_port(char *device, struct location *location)
{
    char *slash = strrchr(device, '/');

    if (!slash)
        return;
    *slash = '\0';
    slash = strrchr(device, '/');
    if (!slash || !location_is_pci(slash + 1))
        return;
    location->port_speed_max_gtps = read_speed(device, "max_link_speed");
    location->port_width_max = read_width(device, "max_link_width");
}

double location_speed_limit(const struct location *location)
{
    return location->port_speed_max_gtps > 0 &&
                   location->port_speed_max_gtps < location->link_speed_max_gtps
               ? location->port_speed_max_gtps
               : location->link_speed_max_gtps;
}

int location_width_limit(const struct location *location)
{
    return location->port_width_max > 0 && location->port_width_max < location->link_width_max
               ? location->port_width_max
               : location->link_width_max;
}

int location_compare(const char *pci, const char *other)
{
    size_t length = strlen(pci), other_length = strlen(other);

    return length != other_length ? (length < other_length ? -1 : 1) : strcmp(pci, other);
}

bool location_is_same_device(const char *pci, const char *other)
{
    size_t length = strcspn(pci, ".");

    return length > 0 && length == strcspn(other, ".") && strncmp(pci, other, length) == 0;
}

void location_read(const char *root, const char *device, struct location *location)
{
    char path[SYSFS_PATH], resolved[SYSFS_PATH];
    const char *pci;
    long long numa_node;

    *location = LOCATION_UNKNOWN;
    if (sysfs_path(root, path, sizeof path, "%s", device) < 0)
        return;
    if (!realpath(path, resolved)) {
        deferred_error_note();
        return;
    }
    pci = pci_above(resolved);
    if (!pci)
        return;
    snprintf(location->pci, sizeof location->pci, "%s", pci);
    pci_path(resolved, location->path, sizeof location->path);
    numa_node = sysfs_number(NULL, "%s/numa_node", resolved);
    location->numa_node = numa_node > 65535 ? -1 : (int)numa_node;
    location->link_speed_gtps = read_speed(resolved, "current_link_speed");
    location->link_speed_max_gtps = read_speed(resolved, "max_link_speed");
    location->link_width = read_width(resolved, "current_link_width");
    location->link_width_max = read_width(resolved, "max_link_width");
    read_port(resolved, location);
}
