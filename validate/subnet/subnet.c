/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/subnet/subnet.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"

static const struct {
    const char *name;
    int lane_mbps;
} speeds[] = {
    {"SDR", 2500},  {"DDR", 5000},  {"QDR", 10000},  {"FDR10", 10300}, {"FDR", 14000},
    {"EDR", 25000}, {"HDR", 50000}, {"NDR", 100000}, {"XDR", 200000},
};
enum { SPEEDS = sizeof speeds / sizeof *speeds };

void subnet_clear(struct subnet *subnet)
{
    if (!subnet)
        return;
    free(subnet->devices);
    free(subnet->ports);
    free(subnet->attachments);
    hostlist_clear(&subnet->nodes);
    hostlist_clear(&subnet->rails);
    *subnet = (struct subnet){0};
}

void subnet_copy_text(const char *text, char *to, size_t size)
{
    size_t length = text ? strnlen(text, size - 1) : 0;

    for (size_t i = 0; i < length; i++)
        to[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
    while (length > 0 && to[length - 1] == ' ')
        length--;
    to[length] = '\0';
}

int subnet_add(struct subnet *subnet, enum subnet_kind kind, uint64_t guid, const char *id,
               const char *description, int port_count, struct error *err)
{
    bool has_room = GROW(subnet->devices, subnet->device_count);
    struct subnet_device *device;

    for (int i = 0; i < port_count && has_room; i++)
        has_room = GROW(subnet->ports, subnet->port_count + (size_t)i);
    if (!has_room)
        return error_set(err, "out of memory for the subnet");
    device = &subnet->devices[subnet->device_count];
    *device = (struct subnet_device){.kind = kind, .guid = guid, .level = -1, .plane = -1};
    if (id)
        subnet_copy_text(id, device->id, sizeof device->id);
    else
        snprintf(device->id, sizeof device->id, "0x%016" PRIx64, guid);
    subnet_copy_text(description, device->description, sizeof device->description);
    device->first_port = (int)subnet->port_count;
    device->port_count = port_count;
    for (int i = 0; i < port_count; i++) {
        struct subnet_port *port = &subnet->ports[subnet->port_count++];

        *port =
            (struct subnet_port){.device = (int)subnet->device_count, .number = i + 1, .peer = -1};
        for (int k = 0; k < SUBNET_COUNTERS; k++)
            port->counters[k] = -1;
    }
    return (int)subnet->device_count++;
}

struct subnet_port *subnet_port(const struct subnet *subnet, int device, int number)
{
    const struct subnet_device *of = &subnet->devices[device];

    return number >= 1 && number <= of->port_count ? &subnet->ports[of->first_port + number - 1]
                                                   : NULL;
}

int subnet_peer_device(const struct subnet *subnet, const struct subnet_port *port)
{
    return !port || port->peer < 0 ? -1 : subnet->ports[port->peer].device;
}

int subnet_link(struct subnet *subnet, struct subnet_port *one, struct subnet_port *other,
                struct error *err)
{
    int a = (int)(one - subnet->ports), b = (int)(other - subnet->ports);

    if (a == b)
        return error_set(err, "%s is listed as cabled to itself", subnet_port_text(subnet, a).text);
    if ((one->peer < 0 || one->peer == b) && (other->peer < 0 || other->peer == a)) {
        one->peer = b;
        other->peer = a;
        return 0;
    }
    if (one->peer < 0 || one->peer == b) {
        int keep = a;

        a = b;
        b = keep;
        one = other;
    }
    return error_set(err, "%s is listed as cabled to %s and to %s",
                     subnet_port_text(subnet, a).text, subnet_port_text(subnet, one->peer).text,
                     subnet_port_text(subnet, b).text);
}

double subnet_rate_mbps(struct subnet_rate rate)
{
    return (double)rate.lanes * rate.lane_mbps;
}

/* Returns "HDR" for 50000; "?" if unknown. */
static const char *speed_name(int lane_mbps)
{
    for (int i = 0; i < SPEEDS; i++)
        if (speeds[i].lane_mbps == lane_mbps)
            return speeds[i].name;
    return "?";
}

int subnet_speed_parse(const char *name, size_t length)
{
    for (int i = 0; i < SPEEDS; i++)
        if (strlen(speeds[i].name) == length && strncmp(speeds[i].name, name, length) == 0)
            return speeds[i].lane_mbps;
    return 0;
}

/* Byte 56: LinkSpeedExtActive2 is bits 1 and 2, LinkSpeedExtSupported2 3 and 4,
 * LinkSpeedExtEnabled2 5 to 7; the least bit of each is XDR (libibmad's fields.c, rdma-core 65). */
int subnet_speed_of_info(const unsigned char *info, enum subnet_speed which)
{
    static const int shifts[] = {[SUBNET_ACTIVE] = 5, [SUBNET_SUPPORTED] = 3, [SUBNET_ENABLED] = 0};

    return info[56] >> shifts[which] & 1 ? 200000 : 0;
}

/* LinkSpeedExt*: 1 FDR, 2 EDR, 4 HDR, 8 NDR; LinkSpeedExtEnabled 30: none of them (opensm's
 * force_link_speed_ext, libibmad's mad_dump_linkspeedexten()). LinkSpeed*: 1 SDR, 2 DDR, 4 QDR.
 * fdr10: the vendor's own attribute. */
int subnet_speed_of_masks(unsigned mask, unsigned extended, unsigned fdr10)
{
    enum { EXTENDED_DISABLED = 30 };
    static const int basic[] = {2500, 5000, 10000}, more[] = {14000, 25000, 50000, 100000};

    for (int i = 3; i >= 0 && extended != EXTENDED_DISABLED; i--)
        if (extended & (1u << i))
            return more[i];
    if (fdr10 & 1)
        return 10300;
    for (int i = 2; i >= 0; i--)
        if (mask & (1u << i))
            return basic[i];
    return 0;
}

struct text_line subnet_rate_text(const struct subnet *subnet, struct subnet_rate rate)
{
    double gbps = subnet_rate_mbps(rate) / 1000;

    if (!(gbps > 0))
        return text_line("unknown");
    if (subnet->is_ethernet)
        return text_line("%g Gb/s", gbps);
    return text_line("%dx %s (%.4g Gb/s)", rate.lanes, speed_name(rate.lane_mbps), gbps);
}

struct text_line subnet_device_text(const struct subnet *subnet, int device)
{
    const struct subnet_device *of = &subnet->devices[device];
    const char *name = of->name[0] ? of->name : of->description;

    if (of->kind == SUBNET_ADAPTER && of->name[0])
        return text_line("%s %s", of->name, of->adapter);
    if (name[0] && strcmp(name, of->id) != 0)
        return text_line("%s (%s)", name, of->id);
    return text_line("%s", of->id);
}

struct text_line subnet_port_label(const struct subnet_port *port)
{
    return port->label[0] ? text_line("%s", port->label) : text_line("port %d", port->number);
}

struct text_line subnet_port_text(const struct subnet *subnet, int port)
{
    const struct subnet_port *of = &subnet->ports[port];
    const struct subnet_device *device = &subnet->devices[of->device];
    struct text_line name = subnet_device_text(subnet, of->device);

    if (device->kind != SUBNET_ADAPTER || !device->name[0])
        return text_line("%s %s", name.text, subnet_port_label(of).text);
    if (subnet->is_ethernet)
        return text_line("%s %s", device->name, of->label);
    return text_line("%s:%d", name.text, of->number);
}
