/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_FINGERPRINT_H
#define MUSTER_FINGERPRINT_H

#include <stddef.h>

#include "lib/conf/conf.h"
#include "lib/node/inventory.h"

/* The node in readable lines, one fact a line, "key: value", in the inventory's order:
 *   kernel: 6.1.0-13-amd64
 *   cpus: 96
 *   numa nodes: 2
 *   nic eth1: mlx5_core 0000:3b:00.0 200000Mb/s mtu 9000 mac 0c:42:... up
 *   rdma mlx5_0:1: ACTIVE 400Gb/s mlx5_core 0000:3b:00.0 fw 28.39.1002 guid 0c42:...
 *   gpu 0000:1a:00.0: NVIDIA H100 serial GPU-... driver nvidia version 550.54
 * Only what stays until somebody changes it: counters, temperatures, addresses (DHCP), LIDs, PCIe
 * link states, virtual interfaces and virtual functions (containers) are left out. NICs with a
 * device behind them, RDMA ports and GPUs count. Bytes that are not printable ASCII come out as
 * '?'. malloc'd, ends in a newline; NULL when memory is out.
 * names: interfaces that count besides those with a device behind them. Where conf, may be NULL,
 * has the prolog set an interface's MTU, that MTU stands in its line whatever it is between jobs;
 * where it has it bring the interface up, "up" stands there and no speed. */
char *fingerprint_text(const struct inventory *inventory, const char *const *names,
                       size_t name_count, const struct conf *conf);

/* fingerprint_text() with the names that certificates are made with: the interfaces of the rails
 * that fabric_choose() finds with conf, and the management interface. */
char *fingerprint_node(const struct inventory *inventory, const struct conf *conf);

/* Compares two such texts. Returns 0 when equal; else the number of lines that differ, and message
 * says the first ones: "nic eth1: was ... mtu 9000 up, is ... mtu 1500 up", "gpu ...: gone",
 * "; and 4 more". The words that begin both values are left out but for the last. A GPU's serial
 * and firmware count only where both texts state them: while nobody uses the GPU, its driver does
 * not. */
int fingerprint_compare(const char *then, const char *now, char *message, size_t message_size);

/* The key of the first line that fingerprint_compare() would name, "kernel"; "" when they are
 * equal.
 */
void fingerprint_first_difference(const char *then, const char *now, char *key, size_t size);

#endif
