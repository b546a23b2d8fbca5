/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_INVENTORY_PARTS_H
#define MUSTER_INVENTORY_PARTS_H

#include "lib/node/inventory.h"

/* The parts of inventory_read(), for inventory.c only. nics_read(), rdma_read() and gpus_read()
 * fill their part and return 0, or -1 with err if the node has more devices than fit. */

int nics_read(const char *root, struct inventory *inventory, struct error *err);

/* Call it after nics_read(). */
int rdma_read(const char *root, struct inventory *inventory, struct error *err);

/* Reads the addresses and default routes of the NICs, for this machine from the kernel, for a
 * recorded machine from its files. Call it after nics_read() and rdma_read(). */
void addresses_read(const char *root, struct inventory *inventory);

/* Adds "TEXT/PREFIX_LENGTH" if there is room. */
void nic_add_address(struct nic *nic, const char *text, int prefix_length);
void nic_add_default_route(struct nic *nic, long metric);

int gpus_read(const char *root, struct inventory *inventory, struct error *err);

/* An unknown location. */
#define LOCATION_UNKNOWN                                                                           \
    ((struct location){.numa_node = -1,                                                            \
                       .link_speed_gtps = -1,                                                      \
                       .link_speed_max_gtps = -1,                                                  \
                       .link_width = -1,                                                           \
                       .link_width_max = -1,                                                       \
                       .port_speed_max_gtps = -1,                                                  \
                       .port_width_max = -1})

/* Reads the location of the device of a path such as "sys/class/net/eth0/device". Always fills
 * location; unknown fields are -1 or "". */
void location_read(const char *root, const char *device, struct location *location);

/* Returns whether the node is a virtual machine, by the processor's flag "hypervisor", else by the
 * manufacturer and product in the firmware. */
bool machine_is_virtual(const char *root);

/* Returns whether name is a PCI address such as "0000:3b:00.0". */
bool location_is_pci(const char *name);

/* Formats into the array text. True if the result fits. */
#define FITS(text, ...) ((size_t)snprintf((text), sizeof(text), __VA_ARGS__) < sizeof(text))

#endif
