/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TRANSPORT_H
#define MUSTER_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>

/* The transports in what ucp_ep_print_info() prints of an endpoint, UCX 1.13's only way to tell
 * them, each once and none cut off: of
 *   lane[0]:  0:tcp/eth1.0 md[0]  -> ...
 * "tcp/eth1". Pure. */
void transport_read(const char *print, char *text, size_t size);

/* Whether all of the transports that UCX told, "tcp/eth1" or "rc_mlx5/mlx5_0:1+ud_mlx5/mlx5_0:1",
 * use that device and are of its kind: TCP on a network interface, verbs on an RDMA port (is_rdma).
 * Text that tells no transport is no proof of another one. Pure. */
bool transport_is_on(const char *transport, const char *device, bool is_rdma);

#endif
