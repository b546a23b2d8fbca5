/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/deferred_error.h"
#include "lib/base/sysfs.h"
#include "lib/node/addresses_live.h"
#include "lib/node/inventory-parts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads addresses and routes of recorded trees. The formats are those of the kernel's
 * net/ipv4/fib_trie.c (fib_route_seq_show, fib_trie_seq_show), net/ipv6/addrconf.c (if6_seq_show)
 * and net/ipv6/route.c. */

enum {
    FILE_MAX = 4 << 20,
    NETWORKS = 1024,
    LOCALS = 1024,
    ROUTE_UP = 1,
    ROUTE_GATEWAY = 2,
    IPV6_SCOPE_LINK = 0x20,
};

/* A network of an interface; host byte order. */
struct network {
    uint32_t prefix, mask;
    struct nic *nic;
};

struct table {
    struct network networks[NETWORKS];
    size_t network_count;
    uint32_t locals[LOCALS]; /* the node's addresses; 0 after one was given to an interface */
    size_t local_count;
};

void nic_add_address(struct nic *nic, const char *text, int prefix_length)
{
    char address[INVENTORY_NAME + 8];

    snprintf(address, sizeof address, "%s/%d", text, prefix_length);
    if (nic->address_count == INVENTORY_ADDRESSES || strlen(address) >= INVENTORY_NAME)
        return;
    strcpy(nic->addresses[nic->address_count++], address);
}

void nic_add_default_route(struct nic *nic, long metric)
{
    if (!nic->has_default_route || metric < nic->default_route_metric)
        nic->default_route_metric = metric;
    nic->has_default_route = true;
}

/* Reads a line of /proc/net/route. Its numbers are hexadecimal; an address is in network byte
 * order, printed as a word of the machine. */
static void read_route(const char *line, struct inventory *inventory, struct table *table)
{
    char name[INVENTORY_NAME];
    uint32_t destination, gateway, mask;
    unsigned flags;
    long metric;
    struct nic *nic;

    if (sscanf(line, "%63s %8" SCNx32 " %8" SCNx32 " %8x %*s %*s %10ld %8" SCNx32, name,
               &destination, &gateway, &flags, &metric, &mask) != 6)
        return;
    nic = (struct nic *)inventory_nic(inventory, name);
    if (!nic || !(flags & ROUTE_UP))
        return;
    if (destination == 0 && mask == 0) {
        nic_add_default_route(nic, metric);
    } else if (!(flags & ROUTE_GATEWAY) && table->network_count < NETWORKS) {
        table->networks[table->network_count++] =
            (struct network){ntohl(destination), ntohl(mask), nic};
    }
}

static bool read_routes(const char *root, struct inventory *inventory, struct table *table)
{
    char *text = sysfs_file(root, FILE_MAX, "proc/net/route"), *rest = text, *line;
    bool is_read = text != NULL;

    while (rest && (line = strsep(&rest, "\n")))
        read_route(line, inventory, table);
    free(text);
    return is_read;
}

static void add_local(struct table *table, const char *text)
{
    char address[16];
    struct in_addr binary;
    uint32_t local;

    snprintf(address, sizeof address, "%.*s", (int)strspn(text, "0123456789."), text);
    if (inet_pton(AF_INET, address, &binary) != 1)
        return;
    local = ntohl(binary.s_addr);
    if (local >> 24 == 127 || table->local_count == LOCALS)
        return;
    for (size_t i = 0; i < table->local_count; i++)
        if (table->locals[i] == local)
            return; /* the tables main and local often have the same entries */
    table->locals[table->local_count++] = local;
}

/* "|-- 10.1.0.3" is a leaf; its routes are on the lines below. The route "/32 host LOCAL" makes it
 * an address of this node. */
static bool read_locals(const char *root, struct table *table)
{
    char *text = sysfs_file(root, FILE_MAX, "proc/net/fib_trie"), *rest = text, *line;
    bool is_read = text != NULL;
    const char *leaf = NULL;

    while (rest && (line = strsep(&rest, "\n"))) {
        const char *found = strstr(line, "|-- ");

        if (found)
            leaf = found + 4;
        else if (leaf && strstr(line, "/32 host LOCAL"))
            add_local(table, leaf);
    }
    free(text);
    return is_read;
}

static void assign_address(struct table *table, size_t local, const struct network *network)
{
    struct in_addr binary = {htonl(table->locals[local])};
    char text[INET_ADDRSTRLEN];

    inet_ntop(AF_INET, &binary, text, sizeof text);
    nic_add_address(network->nic, text, __builtin_popcount(network->mask));
    table->locals[local] = 0;
}

static bool contains(const struct network *network, uint32_t address)
{
    return (address & network->mask) == network->prefix;
}

/* Returns the narrowest network that contains the address; of several, the one whose interface has
 * the fewest addresses. nic: considers only networks of this interface; NULL: of all. */
static const struct network *best_network(const struct table *table, uint32_t address,
                                          const struct nic *nic)
{
    const struct network *best = NULL;

    for (size_t i = 0; i < table->network_count; i++) {
        const struct network *network = &table->networks[i];

        if (!contains(network, address) || (nic && network->nic != nic))
            continue;
        if (!best || network->mask > best->mask ||
            (network->mask == best->mask && network->nic->address_count < best->nic->address_count))
            best = network;
    }
    return best;
}

/* Gives addresses to interfaces by RoCE GIDs: a GID of an IPv4 address, ::ffff:a.b.c.d, has
 * both. */
static void assign_by_gids(struct inventory *inventory, struct table *table)
{
    static const char mapped[] = "0000:0000:0000:0000:0000:ffff:";

    for (size_t i = 0; i < inventory->rdma_count; i++) {
        for (size_t j = 0; j < inventory->rdma[i].gid_count; j++) {
            const struct gid *gid = &inventory->rdma[i].gids[j];
            struct nic *nic = (struct nic *)inventory_nic(inventory, gid->netdev);
            unsigned high, low;

            if (!nic || strncmp(gid->gid, mapped, sizeof mapped - 1) != 0 ||
                sscanf(gid->gid + sizeof mapped - 1, "%4x:%4x", &high, &low) != 2)
                continue;
            for (size_t k = 0; k < table->local_count; k++) {
                const struct network *network;

                if (table->locals[k] != (uint32_t)(high << 16 | low) || table->locals[k] == 0)
                    continue;
                network = best_network(table, table->locals[k], nic);
                if (network)
                    assign_address(table, k, network);
            }
        }
    }
}

/* Returns whether the interface of each IPv4 address is known. An address in no network of the main
 * table may belong to any interface. */
static bool read_ipv4(const char *root, struct inventory *inventory)
{
    struct table *table = calloc(1, sizeof *table);
    bool is_known;

    if (!table) {
        deferred_error_note();
        return false;
    }
    is_known = read_routes(root, inventory, table);
    is_known &= read_locals(root, table);
    assign_by_gids(inventory, table);
    for (size_t i = 0; i < table->local_count; i++) {
        const struct network *network =
            table->locals[i] ? best_network(table, table->locals[i], NULL) : NULL;

        if (network)
            assign_address(table, i, network);
        else if (table->locals[i])
            is_known = false;
    }
    free(table);
    return is_known;
}

/* "fd00...0002 04 40 00 82 eth0": address, index, prefix length, scope, flags, name */
static void read_ipv6_line(const char *line, struct inventory *inventory)
{
    char digits[33], name[INVENTORY_NAME], text[INET6_ADDRSTRLEN];
    unsigned prefix_length, scope, byte;
    struct in6_addr binary;
    struct nic *nic;

    if (sscanf(line, "%32[0-9a-f] %*x %2x %2x %*x %63s", digits, &prefix_length, &scope, name) !=
            4 ||
        strlen(digits) != 32 || scope == IPV6_SCOPE_LINK || prefix_length > 128)
        return;
    nic = (struct nic *)inventory_nic(inventory, name);
    if (!nic)
        return;
    for (size_t i = 0; i < 16; i++) {
        sscanf(digits + 2 * i, "%2x", &byte);
        binary.s6_addr[i] = (uint8_t)byte;
    }
    inet_ntop(AF_INET6, &binary, text, sizeof text);
    nic_add_address(nic, text, (int)prefix_length);
}

/* Adds the default route of a line of /proc/net/ipv6_route: prefix length 0, except the kernel's
 * own entries on lo, which inventory_nic() does not find. Used if there is no IPv4 default
 * route. */
static void read_ipv6_route(const char *line, struct inventory *inventory)
{
    char name[INVENTORY_NAME];
    unsigned prefix_length, metric;
    struct nic *nic;

    if (sscanf(line, "%*32s %2x %*32s %*x %*32s %8x %*x %*x %*x %63s", &prefix_length, &metric,
               name) != 3 ||
        prefix_length != 0)
        return;
    nic = (struct nic *)inventory_nic(inventory, name);
    if (nic)
        nic_add_default_route(nic, (long)metric);
}

static void read_ipv6(const char *root, struct inventory *inventory)
{
    char *text = sysfs_file(root, FILE_MAX, "proc/net/if_inet6"), *rest = text, *line;

    while (rest && (line = strsep(&rest, "\n")))
        read_ipv6_line(line, inventory);
    free(text);
    for (size_t i = 0; i < inventory->nic_count; i++)
        if (inventory->nics[i].has_default_route)
            return;
    text = rest = sysfs_file(root, FILE_MAX, "proc/net/ipv6_route");
    while (rest && (line = strsep(&rest, "\n")))
        read_ipv6_route(line, inventory);
    free(text);
}

void addresses_read(const char *root, struct inventory *inventory)
{
    bool is_live = !root || !*root || strcmp(root, "/") == 0, is_known;

    if (is_live) {
        is_known = addresses_read_live(inventory) == 0;
        if (!is_known)
            deferred_error_set(errno ? errno : EIO);
    } else {
        is_known = read_ipv4(root, inventory);
        read_ipv6(root, inventory);
    }
    for (size_t i = 0; i < inventory->nic_count; i++)
        inventory->nics[i].has_known_addresses = is_known || inventory->nics[i].address_count > 0;
}
