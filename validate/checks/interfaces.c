/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/ports.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/sysfs.h"
#include "lib/base/text.h"
#include "lib/netif/netif_journal.h"

/* net.interfaces: checks each rail of the fabric. */

struct context {
    const struct checks *checks;
    const struct rail *rail;
    int found; /* problems so far */
};

static const char *mbps_text(double mbps, char text[32])
{
    if (mbps >= 1000)
        snprintf(text, 32, "%.10g Gb/s", mbps / 1000);
    else
        snprintf(text, 32, "%.10g Mb/s", mbps);
    return text;
}

#define record_problem(context, verdict, ...)                                                      \
    ((context)->found++,                                                                           \
     checks_record((context)->checks, (context)->rail->name, verdict, __VA_ARGS__))
#define record_fault(context, code, ...)                                                           \
    ((context)->found++, checks_fault((context)->checks, (context)->rail->name, code, __VA_ARGS__))

#define record_as(context, record, ...)                                                            \
    ((context)->found++, checks_report((context)->checks, record, __VA_ARGS__))

/* The record of a rail that can carry no traffic. Its metric distinguishes it from a degraded rail:
 * AllowFailedRails counts the unusable_record rails. */
static struct record unusable_record(const struct context *context, enum fault_code code)
{
    return RECORD(.part = context->rail->name, .metric = "unusable", .verdict = VERDICT_FAIL,
                  .code = code);
}

/* Returns the current speed of the link in Mb/s; -1 if unknown. */
static double speed_now(const struct rail *rail)
{
    if (rail->port)
        return rail->port->rate_gbps > 0 ? rail->port->rate_gbps * 1000 : -1;
    return rail->nic->speed_mbps;
}

static const char *driver_of(const struct rail *rail)
{
    return rail->port ? rail->port->driver : rail->nic->driver;
}

/* Returns the line of muster.conf with which the prolog applies the setting to the rail's interface
 * for jobs, or NULL. */
static const struct netif_line *find_prolog_line(const struct context *context,
                                                 enum netif_setting setting, long *value)
{
    const struct conf *conf = context->checks->conf;

    return netif_line_find(conf->netif_lines, conf->netif_line_count, context->rail->nic->name,
                           setting, value);
}

/* Returns whether there is a link that can be checked further. */
static int check_link(struct context *context)
{
    const struct rail *rail = context->rail;
    const struct nic *nic = rail->class != FABRIC_INFINIBAND ? rail->nic : NULL;
    char why[256];

    if (nic && !nic->is_up && find_prolog_line(context, NETIF_UP, NULL)) {
        record_problem(context, VERDICT_SKIP,
                       "%s is down between jobs; Interface line %u of the "
                       "configuration brings it up for them",
                       nic->name, find_prolog_line(context, NETIF_UP, NULL)->line);
        return 0;
    }
    if (rail->port && !rail->port->state[0] && (!nic || nic_has_link(nic))) {
        record_problem(context, VERDICT_UNKNOWN, "cannot read the state of %s", rail->name);
        return 0;
    }
    if (rail_is_up(rail) && (!nic || nic_has_link(nic)))
        return 1;
    rail_why_down(rail, why, sizeof why);
    record_as(context, unusable_record(context, FAULT_LINK_DOWN), "%s", why);
    return 0;
}

/* Counts the other rails of the same kind that run faster, and those that do not. */
static void count_peers(const struct context *context, double speed, size_t *faster, size_t *others,
                        double *fastest)
{
    const struct fabric *fabric = context->checks->fabric;

    *faster = *others = 0;
    *fastest = speed;
    for (size_t i = 0; i < fabric->rail_count; i++) {
        const struct rail *peer = &fabric->rails[i];

        if (peer == context->rail || !rail_is_up(peer) || peer->class != context->rail->class ||
            strcmp(driver_of(peer), driver_of(context->rail)) != 0 || speed_now(peer) < 0)
            continue;
        if (speed_now(peer) > speed)
            ++*faster;
        else
            ++*others;
        if (speed_now(peer) > *fastest)
            *fastest = speed_now(peer);
    }
}

static struct record report_slow(const struct context *context, double limit,
                                 const char *limit_source, enum verdict verdict)
{
    return RECORD(.part = context->rail->name, .metric = "speed", .code = FAULT_LINK_SPEED_LOW,
                  .value = speed_now(context->rail), .unit = "Mb/s", .limit = limit,
                  .limit_source = limit_source, .verdict = verdict);
}

static void check_speed(struct context *context)
{
    const struct rail *rail = context->rail;
    double speed = speed_now(rail), fastest;
    char found[32], expected[32];
    size_t faster, others;
    int is_stated = strcmp(rail->nominal_source, "conf") == 0;

    if (speed < 0)
        return;
    if (is_stated && speed < rail->nominal_mbps) {
        record_as(context, report_slow(context, rail->nominal_mbps, "conf", VERDICT_FAIL),
                  "%s runs at %s, NominalSpeed of the configuration is %s; check cable or switch "
                  "port",
                  rail->name, mbps_text(speed, found), mbps_text(rail->nominal_mbps, expected));
    }
    if (is_stated)
        return;
    count_peers(context, speed, &faster, &others, &fastest);
    if (faster == 0)
        return;
    /* with one rail against one it is unknown which is wrong */
    record_as(
        context,
        report_slow(context, fastest, "peers", faster > others + 1 ? VERDICT_FAIL : VERDICT_WARN),
        "%s runs at %s, %zu of the node's %zu other rails at up to %s; check cable or switch "
        "port",
        rail->name, mbps_text(speed, found), faster, faster + others, mbps_text(fastest, expected));
}

static struct record wrong_mtu(const struct context *context, int limit, const char *limit_source,
                               enum verdict verdict)
{
    return RECORD(.part = context->rail->name, .metric = "mtu", .code = FAULT_MTU_WRONG,
                  .value = context->rail->nic->mtu_bytes, .unit = "bytes", .limit = limit,
                  .limit_source = limit_source, .verdict = verdict);
}

static void check_mtu(struct context *context)
{
    const struct nic *nic = context->rail->nic;
    const struct fabric *fabric = context->checks->fabric;
    int wanted = context->checks->conf->mtu_bytes;
    long made;

    if (!nic || nic->mtu_bytes < 0)
        return;
    /* the prolog sets the MTU for jobs: its value between jobs is irrelevant */
    if (find_prolog_line(context, NETIF_MTU, &made) && (wanted <= 0 || made == wanted))
        return;
    if (wanted > 0) {
        if (nic->mtu_bytes == wanted)
            return;
        record_as(context, wrong_mtu(context, wanted, "conf", VERDICT_FAIL),
                  "%s has MTU %d, the configuration expects %d; set it: ip link set %s mtu %d",
                  nic->name, nic->mtu_bytes, wanted, nic->name, wanted);
        return;
    }
    for (size_t i = 0; i < fabric->rail_count; i++) {
        const struct nic *peer = fabric->rails[i].nic;

        if (!peer || fabric->rails[i].class != context->rail->class ||
            peer->mtu_bytes <= nic->mtu_bytes)
            continue;
        record_as(context, wrong_mtu(context, peer->mtu_bytes, "peers", VERDICT_WARN),
                  "%s has MTU %d, %s of the same node has %d; change one of them", nic->name,
                  nic->mtu_bytes, peer->name, peer->mtu_bytes);
        return;
    }
}

static bool is_member(const struct context *context, const struct nic *nic)
{
    const struct nic *master =
        nic->master[0] ? inventory_nic(context->checks->inventory, nic->master) : NULL;

    return nic->master[0] && !(master && strcmp(master->driver, "vrf") == 0);
}

static void check_address(struct context *context)
{
    const struct rail *rail = context->rail;
    const struct nic *upper;
    const struct gid *gid = NULL;

    if (rail->class == FABRIC_ETHERNET || rail->class == FABRIC_IWARP) {
        if (!rail->nic || rail->nic->address_count > 0 || rail->nic->duplicate_address[0] ||
            is_member(context, rail->nic))
            return;
        if (!rail->nic->has_known_addresses)
            record_problem(context, VERDICT_UNKNOWN, "cannot read the addresses of %s",
                           rail->nic->name);
        else if ((upper = nic_addressed_on(context->checks->inventory, rail->nic)))
            record_problem(context, VERDICT_UNKNOWN,
                           "%s has no IP address, but %s on top of it has one; name %s in "
                           "FabricInterfaces instead",
                           rail->nic->name, upper->name, upper->name);
        else
            record_as(context, unusable_record(context, FAULT_ADDRESS_MISSING),
                      "%s has no IP address, but %s needs one; assign one, or leave it out "
                      "of FabricInterfaces",
                      rail->nic->name, fabric_class_name(rail->class));
        return;
    }
    if (rail->class != FABRIC_ROCE_V1 && rail->class != FABRIC_ROCE_V2)
        return;
    for (size_t i = 0; rail->port && i < rail->port->gid_count; i++)
        if (rail->port->gids[i].index == rail->gid_index)
            gid = &rail->port->gids[i];
    if (!gid)
        record_as(context, unusable_record(context, FAULT_ADDRESS_MISSING),
                  "%s has no RoCE GID; check that %s has an IP address", rail->name,
                  rail->nic ? rail->nic->name : "its interface");
    else if (strncmp(gid->gid, "fe80:", 5) == 0)
        record_fault(context, FAULT_ADDRESS_LINK_LOCAL,
                     "%s has only link-local GIDs, which do not reach other subnets; check that %s "
                     "has an IP address",
                     rail->name, rail->nic ? rail->nic->name : "its interface");
}

/* A bond works with its remaining members. Its speed and the measurements show if it is too slow
 * then; the site may have intended a member as a spare. */
static void check_members(struct context *context)
{
    const struct inventory *inventory = context->checks->inventory;
    const struct nic *bond = context->rail->nic;

    if (bond && strcmp(bond->driver, "bond") != 0)
        bond = inventory_nic(inventory, bond->lower);
    if (!bond || strcmp(bond->driver, "bond") != 0)
        return;
    for (size_t i = 0; i < inventory->nic_count; i++) {
        const struct nic *nic = &inventory->nics[i];

        if (strcmp(nic->master, bond->name) == 0 && !nic_has_link(nic))
            record_problem(context, VERDICT_WARN,
                           "%s of %s %s, so %s runs on the others; check cable or switch port",
                           nic->name, bond->name, nic->is_up ? "has no carrier" : "is down",
                           bond->name);
    }
}

static void check_pcie(struct context *context)
{
    const struct location *location = rail_location(context->rail);
    double speed_limit = location_speed_limit(location);
    int width_limit = location_width_limit(location);

    if (location->link_width > 0 && location->link_width < width_limit)
        record_fault(context, FAULT_PCIE_DEGRADED, "%s (%s) uses %d of %d PCIe lanes; reseat it",
                     context->rail->name, location->pci, location->link_width, width_limit);
    if (location->link_speed_gtps > 0 && location->link_speed_gtps < speed_limit)
        record_fault(context, FAULT_PCIE_DEGRADED,
                     "%s (%s) has a PCIe link of %g GT/s, it supports %g; reseat it, or check the "
                     "slot's speed in the firmware settings",
                     context->rail->name, location->pci, location->link_speed_gtps, speed_limit);
}

static void record_pass(const struct context *context)
{
    const struct rail *rail = context->rail;
    char message[256] = "", speed[32];

    text_join(message, sizeof message, "", "%s", fabric_class_name(rail->class));
    if (speed_now(rail) > 0)
        text_join(message, sizeof message, ", ", "%s", mbps_text(speed_now(rail), speed));
    if (rail->nic && rail->nic->mtu_bytes > 0)
        text_join(message, sizeof message, ", ", "MTU %d", rail->nic->mtu_bytes);
    if (rail->nic && rail->nic->address_count > 0)
        text_join(message, sizeof message, ", ", "%s", rail->nic->addresses[0]);
    checks_record(context->checks, rail->name, VERDICT_PASS, "%s", message);
}

static void check_rail(const struct checks *checks, const struct rail *rail)
{
    struct context context = {checks, rail, 0};

    if (check_link(&context)) {
        check_speed(&context);
        check_mtu(&context);
        check_address(&context);
        check_members(&context);
        check_pcie(&context);
        context.found += port_check_width(checks, rail);
        context.found += port_check_partitions(checks, rail);
        context.found += port_check_firmware(checks, rail);
    }
    if (context.found == 0)
        record_pass(&context);
}

static int is_on_node(const struct checks *checks, const char *name)
{
    for (size_t i = 0; i < checks->fabric->rail_count; i++) {
        const struct rail *rail = &checks->fabric->rails[i];

        if (strcmp(rail->name, name) == 0 || (rail->nic && strcmp(rail->nic->name, name) == 0) ||
            (rail->port && strcmp(rail->port->device, name) == 0))
            return 1;
    }
    return 0;
}

/* Checks the journal for interface settings made for jobs that are over, or before a reboot. */
static void check_journal(const struct checks *checks)
{
    struct netif_journal journal;
    struct error err = {""};
    char path[SYSFS_PATH];
    int status;

    if (sysfs_path(checks->root, path, sizeof path, "%s", checks->conf->interface_journal + 1) != 0)
        return;
    status = journal_load(path, &journal, &err);
    if (status < 0 && geteuid() == 0)
        checks_fault(checks, "", FAULT_INTERFACE_LEFT_CHANGED, "the journal of the interfaces: %s",
                     err.text);
    for (size_t i = 0; i < journal.count; i++) {
        const struct netif_entry *entry = &journal.entries[i];
        char made[32], was[32];

        if (entry->job_count > 0 || strcmp(journal.boot_id, checks->inventory->boot_id) != 0)
            continue;
        netif_value_format(entry->setting, entry->set[entry->set_count - 1], made, sizeof made);
        netif_value_format(entry->setting, entry->was, was, sizeof was);
        checks_fault(checks, entry->interface, FAULT_INTERFACE_LEFT_CHANGED,
                     "%s of %s is still %s, set for a job that ended; it was %s before; next: "
                     "muster interfaces --restore",
                     netif_setting_name(entry->setting), entry->interface, made, was);
    }
    journal_clear(&journal);
}

/* Skips interfaces that are down: only the site and the other nodes know whether they should be
 * rails. */
static void record_unused(const struct checks *checks)
{
    for (size_t i = 0; i < checks->fabric->unused_count; i++) {
        const struct rail *rail = &checks->fabric->unused[i];

        checks_record(checks, rail->name, VERDICT_SKIP,
                      "%s is down and not configured to come up, so it is not used as a rail; if "
                      "it is one, bring it up or name it in FabricInterfaces",
                      rail->name);
    }
}

void check_interfaces(const struct checks *checks)
{
    const struct hostlist *named = &checks->conf->fabric_interfaces;
    const struct fabric *fabric = checks->fabric;
    const char *management = checks->conf->management_interface;
    size_t missing = 0;

    for (size_t i = 0; i < named->count; i++) {
        if (is_on_node(checks, named->names[i]))
            continue;
        missing++;
        checks_fault(checks, named->names[i], FAULT_INTERFACE_MISSING,
                     "%s is not on this node; FabricInterfaces of the configuration names it",
                     named->names[i]);
    }
    if (management[0] && !fabric->management)
        checks_fault(checks, management, FAULT_INTERFACE_MISSING,
                     "%s is not on this node; ManagementInterface of the configuration names it",
                     management);
    for (size_t i = 0; i < fabric->rail_count; i++)
        check_rail(checks, &fabric->rails[i]);
    record_unused(checks);
    check_journal(checks);
    if (fabric->rail_count == 0 && missing == 0)
        checks_record(checks, "", VERDICT_UNKNOWN, "%s", fabric->reason);
}
