/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_FACTS_H
#define MUSTER_FACTS_H

#include "lib/base/error.h"

/* Reads the facts of a node that decide how fast collectives are, as one line:
 *   "Intel(R) Xeon(R) ..., 96 cpus, mlx5_core 200000Mb/s x2, Linux 6.1.0-13-amd64"
 * the processor, the NICs that are up by driver and speed, and the kernel. Nodes of the same kind
 * have the same line. root: as in inventory_read(). Returns a malloc'd text, or NULL with err. */
char *facts_read(const char *root, struct error *err);

#endif
