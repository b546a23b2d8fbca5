/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fabric/rails.h"

#include <string.h>

enum { DEPTH_MAX = 4 }; /* a VLAN on a bond on its members has depth two */

static const struct nic *bond_of(const struct inventory *inventory, const struct nic *nic)
{
    const struct nic *master = nic->master[0] ? inventory_nic(inventory, nic->master) : NULL;

    return master && strcmp(master->driver, "bond") == 0 ? master : NULL;
}

static bool is_above(const struct inventory *inventory, const struct nic *upper,
                     const struct nic *nic, int depth)
{
    if (strcmp(nic->master, upper->name) == 0 || strcmp(upper->lower, nic->name) == 0)
        return true;
    for (size_t i = 0; depth < DEPTH_MAX && i < inventory->nic_count; i++) {
        const struct nic *middle = &inventory->nics[i];

        if ((strcmp(nic->master, middle->name) == 0 || strcmp(middle->lower, nic->name) == 0) &&
            is_above(inventory, upper, middle, depth + 1))
            return true;
    }
    return false;
}

bool nic_is_above(const struct inventory *inventory, const struct nic *upper, const struct nic *nic)
{
    return is_above(inventory, upper, nic, 0);
}

const struct nic *nic_addressed_on(const struct inventory *inventory, const struct nic *nic)
{
    for (size_t i = 0; i < inventory->nic_count; i++)
        if (strcmp(inventory->nics[i].lower, nic->name) == 0 &&
            inventory->nics[i].address_count > 0)
            return &inventory->nics[i];
    return NULL;
}

static const struct nic *find_addressed(const struct inventory *inventory, const struct nic *nic)
{
    const struct nic *bond = bond_of(inventory, nic), *upper;

    nic = bond ? bond : nic;
    upper = nic->address_count == 0 && nic->has_known_addresses ? nic_addressed_on(inventory, nic)
                                                                : NULL;
    return upper ? upper : nic;
}

size_t rails_replace_by_uppers(const struct inventory *inventory, const struct conf *conf,
                               const struct nic *management, struct rail *rails, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        const struct nic *addressed;
        bool is_double = false;

        if (rails[i].port || !rails[i].nic) {
            rails[kept++] = rails[i];
            continue;
        }
        addressed = find_addressed(inventory, rails[i].nic);
        for (size_t k = 0; k < kept; k++)
            is_double |= rails[k].nic == addressed && !rails[k].port;
        if (is_double || addressed == management)
            continue;
        rails[kept++] =
            addressed == rails[i].nic ? rails[i] : rail_of_nic(conf, addressed, rails[i].class);
    }
    return kept;
}
