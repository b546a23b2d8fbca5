/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fabric/rails.h"

#include <string.h>

/* Unused ports, such as the second port of a card. A port that is down does not show whether it
 * should be up. Without an address or another setting it is not a rail, unless its link was lost
 * since boot: then it has a cable, and its address may have been removed with the link. A
 * comparison with other nodes can tell more. */

static bool is_configured(const struct inventory *inventory, const struct conf *conf,
                          const struct rail *rail)
{
    const struct nic *nic = rail->nic;

    if (rail->nominal_mbps > 0 && strcmp(rail->nominal_source, "conf") == 0)
        return true;
    if (!nic)
        return false;
    if (!nic->has_known_addresses || nic->address_count > 0 || nic->duplicate_address[0] ||
        nic->master[0])
        return true;
    for (size_t i = 0; i < inventory->nic_count; i++)
        if (strcmp(inventory->nics[i].lower, nic->name) == 0)
            return true;
    for (size_t i = 0; conf && i < conf->netif_line_count; i++)
        if (hostlist_contains(&conf->netif_lines[i].interfaces, nic->name))
            return true;
    return false;
}

/* Returns whether both ports have the same position on their cards, by PCI function and port. */
static bool is_same_position(const struct rail *a, const struct rail *b)
{
    const char *one = a->port->location.pci, *other = b->port->location.pci;

    return a->port->port == b->port->port &&
           strcmp(one + strcspn(one, "."), other + strcspn(other, ".")) == 0;
}

static bool is_unplugged(const struct rail *rail)
{
    return rail->port && strcmp(rail->port->state, "DOWN") == 0 &&
           strcmp(rail->port->phys_state, "LinkUp") != 0;
}

/* Returns whether the port is down, the card's other port is up, and no other card's port of the
 * same position is up. InfiniBand ports need no address: only the other ports show whether one is
 * in use. */
static bool is_second_port(const struct rail *rails, size_t count, const struct rail *rail)
{
    bool has_sibling = false;

    if (!is_unplugged(rail))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!rails[i].port || !rail_is_up(&rails[i]))
            continue;
        if (location_is_same_device(rail->port->location.pci, rails[i].port->location.pci))
            has_sibling = true;
        else if (rails[i].class == rail->class && is_same_position(rail, &rails[i]))
            return false;
    }
    return has_sibling;
}

/* An InfiniBand card without a cable looks like a dead port, so it is expected up too: to miss a
 * dead port is worse. */
bool rail_is_expected_up(const struct conf *conf, const struct rail *rails, size_t count,
                         const struct rail *rail)
{
    if (rail_is_virtual(rail))
        return false;
    if (rail->class == FABRIC_INFINIBAND)
        return (conf && conf_nominal_mbps(conf, rail->name) >= 0) ||
               (strcmp(rail->port->phys_state, "Disabled") != 0 &&
                !is_second_port(rails, count, rail));
    return rail->class == FABRIC_EFA || rail->class == FABRIC_SLINGSHOT;
}

static bool has_link(const struct rail *rail)
{
    return rail_is_up(rail) && rail->nic && nic_has_link(rail->nic);
}

/* Returns whether the link was up since boot and is lost, though the interface is set up. */
static bool has_lost_link(const struct rail *rail)
{
    return rail->nic->is_up && !rail->nic->has_carrier && rail->nic->carrier_ups > 0;
}

static bool is_unused(const struct inventory *inventory, const struct conf *conf,
                      const struct nic *management, const struct rail *rails, size_t count,
                      const struct rail *rail)
{
    bool has_other = management && nic_has_sockets(management);

    if (rail->class == FABRIC_INFINIBAND)
        return (!conf || conf_nominal_mbps(conf, rail->name) < 0) &&
               is_second_port(rails, count, rail);
    if (rail->class != FABRIC_ETHERNET && rail->class != FABRIC_IWARP &&
        rail->class != FABRIC_ROCE_V1 && rail->class != FABRIC_ROCE_V2)
        return false;
    for (size_t i = 0; i < count; i++)
        has_other |= rail_is_up(&rails[i]) && rails[i].nic && nic_has_sockets(rails[i].nic);
    return has_other && rail->nic && !has_link(rail) && !has_lost_link(rail) &&
           !is_configured(inventory, conf, rail);
}

size_t rails_exclude_unused(const struct inventory *inventory, const struct conf *conf,
                            struct rail *rails, size_t count, struct fabric *fabric)
{
    bool is_left[RAILS_MAX];
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        is_left[i] = is_unused(inventory, conf, fabric->management, rails, count, &rails[i]);
    for (size_t i = 0; i < count; i++) {
        if (!is_left[i])
            rails[kept++] = rails[i];
        else if (fabric->unused_count < FABRIC_UNUSED)
            fabric->unused[fabric->unused_count++] = rails[i];
    }
    return kept;
}
