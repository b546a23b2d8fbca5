/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/addresses.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/address_ranges.h"
#include "validate/checks/facts.h"

/* net.addresses: the addresses, MACs and GUIDs of the rails and the management interface, which no
 * other node may have, for comparison with the other nodes; and whether another host answers to the
 * addresses. Also the kernel's boot ID, which shows that several nodes are one machine. */

enum { SOURCES_TEXT = 1000 }; /* a fact has 1023 bytes at most */

static void record_nic(const struct checks *checks, const struct nic *nic)
{
    for (size_t i = 0; i < nic->address_count; i++)
        fact_record(checks, "address", nic->name, NAN, NULL, "%.*s",
                    (int)strcspn(nic->addresses[i], "/"), nic->addresses[i]);
    fact_text(checks, "address", nic->name, nic->duplicate_address);
    if (strlen(nic->mac) == 17) /* longer for IPoIB, which has the port's GUID in it */
        fact_text(checks, "mac", nic->name, nic->mac);
    if (nic->duplicate_address[0])
        checks_record(checks, nic->name, VERDICT_UNKNOWN,
                      "%s does not use its address %s: another host has it (duplicate address "
                      "detection); change one of the two",
                      nic->name, nic->duplicate_address);
}

/* Records the port GUID of an InfiniBand port: the lower half of its GIDs. */
static void record_guid(const struct checks *checks, const struct rail *rail)
{
    const char *gid = rail->port->gid_count > 0 ? rail->port->gids[0].gid : "";

    if (rail->class == FABRIC_INFINIBAND && strlen(gid) == 39)
        fact_text(checks, "guid", rail->name, gid + 20);
}

/* Records the addresses from which this machine may connect to others
 * (validate/harness/watch/peers.h). Joins ranges until they fit the fact. If a node reports none,
 * the run's peers stay unknown. */
static void record_sources(const struct checks *checks)
{
    struct address_range *ranges;
    size_t count = address_ranges_own(&ranges);
    char *text = NULL;

    do {
        free(text);
        text = count > 0 ? address_ranges_text(ranges, count) : NULL;
        count = address_ranges_fold(ranges, count, count / 2 + 1);
    } while (text && strlen(text) >= SOURCES_TEXT);
    fact_text(checks, "sources", "", text ? text : "");
    free(text);
    free(ranges);
}

static bool can_be_probed(const struct nic *nic)
{
    return nic->arp_type == 1 && nic->is_up && nic->has_carrier && nic->index > 0;
}

static size_t collect(const struct nic *nic, struct arp_address *addresses, size_t count)
{
    for (size_t i = 0; i < nic->address_count && can_be_probed(nic) && count < ARP_MAX; i++) {
        char text[INVENTORY_NAME];
        struct in_addr binary;

        snprintf(text, sizeof text, "%.*s", (int)strcspn(nic->addresses[i], "/"),
                 nic->addresses[i]);
        if (inet_pton(AF_INET, text, &binary) == 1)
            addresses[count++] = (struct arp_address){.nic = nic, .address = binary.s_addr};
    }
    return count;
}

static void probe(const struct checks *checks, struct arp_address *addresses, size_t count)
{
    size_t conflicts = 0;

    if (arp_probe(checks->inventory, addresses, count) != 0) {
        checks_record(
            checks, "", VERDICT_SKIP,
            "cannot check whether other hosts have this node's addresses: cannot use ARP: %m");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const unsigned char *mac = addresses[i].answering_mac;
        char text[INET_ADDRSTRLEN];

        if (!addresses[i].is_answered)
            continue;
        conflicts++;
        inet_ntop(AF_INET, &addresses[i].address, text, sizeof text);
        checks_record(checks, addresses[i].nic->name, VERDICT_UNKNOWN,
                      "another host, MAC %02x:%02x:%02x:%02x:%02x:%02x, also answers to the "
                      "address %s of %s; change one of the two",
                      mac[0], mac[1], mac[2], mac[3], mac[4], mac[5], text, addresses[i].nic->name);
    }
    if (conflicts == 0)
        checks_record(checks, "", VERDICT_PASS,
                      "no other host answers to the node's IPv4 addresses (%zu)", count);
}

void check_addresses(const struct checks *checks)
{
    const struct fabric *fabric = checks->fabric;
    struct arp_address addresses[ARP_MAX];
    bool is_live = !checks->root[0] && geteuid() == 0, has_management = false;
    size_t count = 0;

    for (size_t i = 0; i < fabric->rail_count; i++) {
        const struct rail *rail = &fabric->rails[i];

        if (rail->port)
            record_guid(checks, rail);
        if (!rail->nic)
            continue;
        has_management |= rail->nic == fabric->management;
        record_nic(checks, rail->nic);
        count = collect(rail->nic, addresses, count);
    }
    if (fabric->management && !has_management) {
        record_nic(checks, fabric->management);
        count = collect(fabric->management, addresses, count);
    }
    fact_text(checks, "boot", "", checks->inventory->boot_id);
    if (!checks->root[0])
        record_sources(checks);
    facts_hosts(checks);
    if (is_live && count > 0)
        probe(checks, addresses, count);
}
