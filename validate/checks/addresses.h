/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHECKS_ADDRESSES_H
#define MUSTER_CHECKS_ADDRESSES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/constants/checks_constants.h"
#include "lib/node/inventory.h"

/* Part of net.addresses: finds whether another host answers to this node's IPv4 addresses, by ARP
 * probes (RFC 5227, 2.1.1) on all interfaces at once. */

enum { ARP_MAX = 128 };

struct arp_address {
    const struct nic *nic;
    uint32_t address; /* network byte order */
    unsigned char answering_mac[6];
    int is_answered; /* by a MAC that no interface of this node has */
};

/* Probes the addresses, and fills in answering_mac and is_answered. A host that also answers to an
 * unused address (RFC 5737) is a proxy of all addresses (routers, clouds): its answers do not
 * count. Takes ARP_WAIT_MS, and ARP_PROXY_WAIT_MS more if there is an answer. Returns 0, or -1 with
 * errno if it cannot probe, as without root. */
int arp_probe(const struct inventory *inventory, struct arp_address *addresses, size_t count);

#endif
