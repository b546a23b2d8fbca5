/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/facts.h"

#include <linux/ethtool.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/sysfs.h"
#include "lib/base/text.h"
#include "lib/netif/dcb.h"
#include "lib/node/gpu/vendor.h"
#include "validate/checks/gres.h"

/* ---------------------------------------------------------------- PCI */

/* Returns whether a bridge above the device, or the device itself, redirects; -1 if unknown. */
static int redirects_above(const char *root, const struct location *location)
{
    char path[INVENTORY_PATH], *rest = path, *part;
    int answer = -1;

    snprintf(path, sizeof path, "%s", location->path);
    while ((part = strsep(&rest, "/"))) {
        struct pci_settings settings;

        if (strncmp(part, "pci", 3) == 0)
            continue; /* the host bridge */
        pci_settings_read(root, part, &settings);
        if (settings.redirects > answer)
            answer = settings.redirects;
    }
    return answer;
}

/* is_speed_steady: the link keeps its speed while the device idles. */
static void record_location(const struct checks *checks, const char *part,
                            const struct location *location, bool is_speed_steady)
{
    const char *root = checks->root;
    struct pci_settings settings;
    int redirects;

    if (!location->pci[0])
        return;
    if (location->link_width > 0 && location->link_speed_gtps > 0 && is_speed_steady)
        fact_record(checks, "pcie", part, NAN, NULL, "%.4g GT/s x%d", location->link_speed_gtps,
                    location->link_width);
    else if (location->link_width > 0)
        fact_record(checks, "pcie", part, NAN, NULL, "x%d", location->link_width);
    if (location->numa_node >= 0)
        fact_record(checks, "device.numa", part, NAN, NULL, "%d", location->numa_node);
    pci_settings_read(root, location->pci, &settings);
    if (settings.payload_bytes > 0)
        fact_number(checks, "pcie.payload", part, settings.payload_bytes, "bytes");
    if (settings.read_request_bytes > 0)
        fact_number(checks, "pcie.readrequest", part, settings.read_request_bytes, "bytes");
    redirects = redirects_above(root, location);
    if (redirects >= 0)
        fact_text(checks, "acs", part, redirects ? "redirects" : "off");
}

/* ---------------------------------------------------------------- interfaces */

static void record_offloads(const struct checks *checks, const char *part, int fd, const char *name)
{
    static const struct {
        unsigned command;
        const char *name;
    } offloads[] = {{ETHTOOL_GRXCSUM, "rx-checksum"},
                    {ETHTOOL_GTXCSUM, "tx-checksum"},
                    {ETHTOOL_GTSO, "tso"},
                    {ETHTOOL_GGSO, "gso"},
                    {ETHTOOL_GGRO, "gro"}};
    struct ethtool_value flags = {.cmd = ETHTOOL_GFLAGS};
    char text[128] = "";
    bool is_reported = false;

    for (size_t i = 0; i < sizeof offloads / sizeof *offloads; i++) {
        struct ethtool_value value = {.cmd = offloads[i].command};

        if (netlink_ethtool(fd, name, &value) != 0)
            continue;
        is_reported = true;
        if (value.data)
            text_join(text, sizeof text, " ", "%s", offloads[i].name);
    }
    if (netlink_ethtool(fd, name, &flags) == 0 && flags.data & ETH_FLAG_LRO)
        text_join(text, sizeof text, " ", "lro");
    if (is_reported)
        fact_text(checks, "offloads", part, *text ? text : "none");
}

/* Records the priorities with pause (PFC) and the priority of each DSCP, if the driver has DCB. The
 * NIC uses the DSCP if any DSCP has a priority, else the priority in the VLAN tag. */
static void record_priorities(const struct checks *checks, const char *part, const char *name)
{
    char text[512] = "", one[32];
    struct netlink netlink;
    struct error err;
    bool is_reported = true;
    long priorities;

    if (netlink_open(&netlink, &err) != 0)
        return;
    if (dcb_get(&netlink, name, NETIF_PFC, &priorities, &err) == 0) {
        netif_value_format(NETIF_PFC, priorities, one, sizeof one);
        fact_text(checks, "pfc", part, one);
    }
    for (int dscp = 0; dscp < 64 && is_reported; dscp++) {
        enum netif_setting setting = (enum netif_setting)((int)NETIF_DSCP + dscp);

        is_reported = dcb_get(&netlink, name, setting, &priorities, &err) == 0;
        if (!is_reported || priorities == 0)
            continue;
        netif_value_format(setting, priorities, one, sizeof one);
        text_join(text, sizeof text, " ", "%s%d:%s", *text ? "" : "dscp ", dscp, one);
    }
    if (is_reported)
        fact_text(checks, "trust", part, *text ? text : "tag");
    netlink_close(&netlink);
}

/* Records the priorities for which a port answers marked packets (np, notification point) and slows
 * down on a notification (rp, reaction point): DCQCN of NVIDIA's drivers, docs.nvidia.com,
 * MLNX_OFED 4.9 and DOCA 2.10, "Explicit Congestion Notification". */
static void record_congestion_control(const struct checks *checks, const char *part,
                                      const char *name)
{
    static const char *const points[] = {"np", "rp"};
    char texts[2][32];
    bool is_reported = false;

    for (int i = 0; i < 2; i++) {
        long priorities = 0;

        for (int priority = 0; priority < 8; priority++) {
            long long answer = sysfs_number(checks->root, "sys/class/net/%s/ecn/roce_%s/enable/%d",
                                            name, points[i], priority);

            is_reported |= answer >= 0;
            priorities |= answer > 0 ? 1L << priority : 0;
        }
        netif_value_format(NETIF_PFC, priorities, texts[i], sizeof texts[i]);
    }
    if (is_reported)
        fact_record(checks, "congestion", part, NAN, NULL, "np %s rp %s", texts[0], texts[1]);
}

/* Records a port's congestion control settings of the kernel's own mlx5 driver, from these debugfs
 * files (Linux 6.12, drivers/infiniband/hw/mlx5/cong.c): priority, DSCP and spacing of congestion
 * notification packets (CNP), and how fast a sender slows down and recovers. Files that the driver
 * does not have are left out. */
static void record_congestion_settings(const struct checks *checks, const char *part,
                                       const char *pci)
{
    static const struct {
        const char *metric, *files[8];
    } settings[] = {
        {"cnp", {"np_cnp_dscp", "np_cnp_prio", "np_cnp_prio_mode", "np_min_time_between_cnps"}},
        {"dcqcn",
         {"rp_clamp_tgt_rate", "rp_time_reset", "rp_byte_reset", "rp_ai_rate", "rp_hai_rate",
          "rp_min_rate", "rp_rate_to_set_on_first_cnp", "rp_gd"}},
    };

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        char text[300] = "";

        for (size_t k = 0; k < 8 && settings[i].files[k]; k++) {
            long long value = sysfs_number(checks->root, "sys/kernel/debug/mlx5/%s/cc_params/%s",
                                           pci, settings[i].files[k]);

            if (value >= 0)
                text_join(text, sizeof text, " ", "%s %lld", settings[i].files[k] + 3, value);
        }
        fact_text(checks, settings[i].metric, part, text);
    }
}

/* Records settings of the interface by ethtool(8)'s ioctl. */
static void record_interface(const struct checks *checks, const char *part, const char *name)
{
    struct ethtool_ringparam rings = {.cmd = ETHTOOL_GRINGPARAM};
    struct ethtool_pauseparam pause = {.cmd = ETHTOOL_GPAUSEPARAM};
    struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};
    int fd = checks->root[0] ? -1 : socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return;
    if (netlink_ethtool(fd, name, &rings) == 0 && (rings.rx_pending || rings.tx_pending))
        fact_record(checks, "rings", part, NAN, NULL, "rx %u tx %u", rings.rx_pending,
                    rings.tx_pending);
    if (netlink_ethtool(fd, name, &pause) == 0)
        fact_record(checks, "pause", part, NAN, NULL, "rx %s tx %s", pause.rx_pause ? "on" : "off",
                    pause.tx_pause ? "on" : "off");
    record_offloads(checks, part, fd, name);
    record_priorities(checks, part, name);
    /* that of an RDMA port is recorded already */
    if (!strchr(part, ':') && netlink_ethtool(fd, name, &driver) == 0) {
        char firmware[sizeof driver.fw_version + 1];

        snprintf(firmware, sizeof firmware, "%.*s", (int)sizeof driver.fw_version,
                 driver.fw_version);
        fact_text(checks, "firmware", part, strcmp(firmware, "N/A") == 0 ? "" : firmware);
    }
    close(fd);
}

/* ---------------------------------------------------------------- rails */

static void record_driver(const struct checks *checks, const char *part, const char *driver)
{
    char path[128];

    fact_text(checks, "driver", part, driver);
    snprintf(path, sizeof path, "sys/module/%.64s/version", driver);
    if (*driver && !strchr(driver, '/'))
        fact_line(checks, "driver.version", part, path);
}

/* Records the index and type of the GID that jobs use: "3 RoCE v2 IPv4". */
static void record_gid(const struct checks *checks, const struct rail *rail)
{
    for (size_t i = 0; i < rail->port->gid_count; i++) {
        const struct gid *gid = &rail->port->gids[i];

        if (gid->index != rail->gid_index)
            continue;
        fact_record(checks, "gid", rail->name, NAN, NULL, "%d %s%s", gid->index,
                    gid_type_name(gid->type),
                    strncmp(gid->gid, "0000:0000:0000:0000:0000:ffff:", 30) == 0 ? " IPv4"
                    : strncmp(gid->gid, "fe80:", 5) == 0                         ? " link-local"
                                                                                 : " IPv6");
    }
}

static void record_port(const struct checks *checks, const struct rail *rail)
{
    const struct rdma_port *port = rail->port;
    char path[256];

    if (port->rate_gbps > 0)
        fact_record(checks, "speed", rail->name, port->rate_gbps * 1000, "Mb/s", "%.10g Mb/s",
                    port->rate_gbps * 1000);
    fact_text(checks, "firmware", rail->name, port->firmware);
    record_driver(checks, rail->name, port->driver);
    record_gid(checks, rail);
    snprintf(path, sizeof path, "sys/class/infiniband/%s/ports/%d/pkeys/0", port->device,
             port->port);
    if (port->link_layer == LINK_INFINIBAND)
        fact_line(checks, "pkey", rail->name, path);
    else if (port->location.pci[0])
        record_congestion_settings(checks, rail->name, port->location.pci);
    record_location(checks, rail->name, &port->location, true);
}

static void record_rail(const struct checks *checks, const struct rail *rail)
{
    if (rail->port) {
        record_port(checks, rail);
    } else {
        if (rail->nic->speed_mbps > 0)
            fact_record(checks, "speed", rail->name, rail->nic->speed_mbps, "Mb/s", "%d Mb/s",
                        rail->nic->speed_mbps);
        record_driver(checks, rail->name, rail->nic->driver);
        record_location(checks, rail->name, &rail->nic->location, true);
    }
    if (rail->nic) {
        fact_number(checks, "mtu", rail->name, rail->nic->mtu_bytes, "bytes");
        record_congestion_control(checks, rail->name, rail->nic->name);
        record_interface(checks, rail->name, rail->nic->name);
    }
    fact_text(checks, "class", rail->name, fabric_class_name(rail->class));
    fact_text(checks, "carrier", rail->name, rail_is_up(rail) ? "yes" : "no");
}

void facts_rails(const struct checks *checks)
{
    const struct fabric *fabric = checks->fabric;

    fact_text(checks, "fabric", "", fabric_class_name(fabric->class));
    for (size_t i = 0; i < fabric->rail_count; i++)
        record_rail(checks, &fabric->rails[i]);
    /* if other nodes have a link on such an interface, this node lacks a rail */
    for (size_t i = 0; i < fabric->unused_count; i++)
        record_rail(checks, &fabric->unused[i]);
}

/* ---------------------------------------------------------------- GPUs */

/* Records which loaded modules let NICs access GPU memory. */
static void record_peer_memory(const struct checks *checks, const char *const *modules)
{
    const char *root = checks->root;
    char text[128] = "";

    for (; *modules; modules++)
        if (sysfs_exists(root, "sys/module/%s", *modules))
            text_join(text, sizeof text, " ", "%s", *modules);
    fact_text(checks, "peer.memory", "", *text ? text : "none");
}

static void record_gpu_driver(const struct checks *checks, enum gpu_vendor vendor)
{
    const struct gpu_vendor_info *info = gpu_vendor_info(vendor);
    const char *version = checks->inventory->gpu_drivers[vendor];
    char name[64];

    if (!info->driver || !version[0])
        return;
    snprintf(name, sizeof name, "%s.driver", info->driver);
    fact_text(checks, name, "", version);
    if (info->peer_modules[0])
        record_peer_memory(checks, info->peer_modules);
}

void facts_gpus(const struct checks *checks)
{
    const struct inventory *inventory = checks->inventory;
    long given = gres_gpu_count(checks, NULL);
    char part[24];

    fact_number(checks, "gpu.count", "", (long long)inventory->gpu_count, "count");
    fact_number(checks, "gres.count", "", given, "count");
    for (int vendor = GPU_OTHER + 1; vendor < GPU_VENDORS; vendor++)
        record_gpu_driver(checks, (enum gpu_vendor)vendor);
    for (size_t i = 0; i < inventory->gpu_count; i++) {
        const struct gpu *gpu = &inventory->gpus[i];

        snprintf(part, sizeof part, "gpu%zu", i);
        fact_text(checks, "model", part, gpu->model);
        fact_text(checks, "firmware", part, gpu->firmware);
        fact_text(checks, "pci", part, gpu->location.pci);
        record_location(checks, part, &gpu->location, false);
    }
}
