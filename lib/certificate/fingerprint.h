/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_FINGERPRINT_H
#define MUSTER_FINGERPRINT_H

#include <stddef.h>

#include "lib/conf/conf.h"
#include "lib/node/inventory.h"

/* Returns the fingerprint of the node: one fact per line, "key: value", in the inventory's order:
 *   kernel: 6.1.0-13-amd64
 *   cpus: 96
 *   numa nodes: 2
 *   nic eth1: mlx5_core 0000:3b:00.0 200000Mb/s mtu 9000 mac 0c:42:... up
 *   rdma mlx5_0:1: ACTIVE 400Gb/s mlx5_core 0000:3b:00.0 fw 28.39.1002 guid 0c42:...
 *   gpu 0000:1a:00.0: NVIDIA H100 serial GPU-... driver nvidia version 550.54
 * It has only facts that stay until somebody changes them: NICs with a device, RDMA ports and GPUs,
 * but no counters, temperatures, addresses (DHCP), LIDs, PCIe link states, virtual interfaces or
 * virtual functions (containers). Bytes that are not printable ASCII are written as '?'. The text
 * is malloc'd and ends in a newline; NULL if memory is out.
 * names: interfaces that count although they have no device. If conf (may be NULL) has the prolog
 * set an interface's MTU, its line has this MTU, whatever it is between jobs. If the prolog brings
 * the interface up, its line has "up" and no speed. */
char *fingerprint_text(const struct inventory *inventory, const char *const *names,
                       size_t name_count, const struct conf *conf);

/* Returns fingerprint_text() as in certificates: names are the interfaces of the rails that
 * fabric_choose() finds with conf, and the management interface. */
char *fingerprint_node(const struct inventory *inventory, const struct conf *conf);

/* Compares two fingerprints. Returns the number of lines that differ, 0 if they are equal. message
 * has the first differences: "nic eth1: was ... mtu 9000 up, is ... mtu 1500 up", "gpu ...: gone",
 * "; and 4 more". It leaves out equal words at the beginning of both values except the last one. A
 * GPU's serial and firmware count only if both texts have them: the driver does not report them
 * while nobody uses the GPU. */
int fingerprint_compare(const char *then, const char *now, char *message, size_t message_size);

/* Copies the key of the first line that differs by fingerprint_compare(), "kernel"; "" if there is
 * none. */
void fingerprint_first_difference(const char *then, const char *now, char *key, size_t size);

#endif
