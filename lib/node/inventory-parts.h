/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_INVENTORY_PARTS_H
#define MUSTER_INVENTORY_PARTS_H

#include "lib/node/inventory.h"

/* The parts of inventory_read(), for inventory.c only. Each fills its share of the inventory and
 * returns 0, or -1 with err when the node has more devices than fit. */

int nics_read(const char *root, struct inventory *inventory, struct error *err);

/* After nics_read(). */
int rdma_read(const char *root, struct inventory *inventory, struct error *err);

/* Addresses and default routes of the NICs, of this machine from the kernel, of a recorded one from
 * its files; after nics_read() and rdma_read(). */
void addresses_read(const char *root, struct inventory *inventory);

/* Adds "TEXT/PREFIX_LENGTH", where there is room. */
void nic_add_address(struct nic *nic, const char *text, int prefix_length);
void nic_add_default_route(struct nic *nic, long metric);

int gpus_read(const char *root, struct inventory *inventory, struct error *err);

/* A location of which nothing is known. */
#define LOCATION_UNKNOWN                                                                           \
    ((struct location){.numa_node = -1,                                                            \
                       .link_speed_gtps = -1,                                                      \
                       .link_speed_max_gtps = -1,                                                  \
                       .link_width = -1,                                                           \
                       .link_width_max = -1,                                                       \
                       .port_speed_max_gtps = -1,                                                  \
                       .port_width_max = -1})

/* Where the device behind a path such as "sys/class/net/eth0/device" sits. Always fills location;
 * what the device does not tell is -1 or "". */
void location_read(const char *root, const char *device, struct location *location);

/* Whether the node is a virtual machine: the processor's flag "hypervisor", else the maker that the
 * firmware names. */
bool machine_is_virtual(const char *root);

/* True for "0000:3b:00.0". */
bool location_is_pci(const char *name);

/* snprintf() that says whether all of it fitted. */
#define FITS(text, ...) ((size_t)snprintf((text), sizeof(text), __VA_ARGS__) < sizeof(text))

#endif
