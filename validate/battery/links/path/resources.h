/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RESOURCES_H
#define MUSTER_RESOURCES_H

/* Prints the transports that UCX offers on this node, each with a device, in UCX's names:
 * "tcp/eth1", "rc_mlx5/mlx5_0:1". Opens no transport, so that nothing listens. Returns the exit
 * status. */
int resources_print(const char *program);

#endif
