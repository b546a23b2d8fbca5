/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TRANSPORT_H
#define MUSTER_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the transports of an endpoint, each once and none truncated, from what ucp_ep_print_info()
 * prints, UCX 1.13's only way to get them: "tcp/eth1" of
 *   lane[0]:  0:tcp/eth1.0 md[0]  -> ...
 * Pure. */
void transport_read(const char *print, char *text, size_t size);

/* Whether all transports in the text, "tcp/eth1" or "rc_mlx5/mlx5_0:1+ud_mlx5/mlx5_0:1", use that
 * device and are of its kind: TCP on a network interface, verbs on an RDMA port (is_rdma). Text
 * without a transport does not prove another one: true. Pure. */
bool transport_is_on(const char *transport, const char *device, bool is_rdma);

#endif
