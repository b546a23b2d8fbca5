/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_FACTS_H
#define MUSTER_FACTS_H

#include "lib/base/error.h"

/* What of a node decides how fast collectives are: one line,
 *   "Intel(R) Xeon(R) ..., 96 cpus, mlx5_core 200000Mb/s x2, Linux 6.1.0-13-amd64"
 * the processor, the kernel, and the NICs that are up, by driver and speed. Nodes of a kind have
 * the same. root: as inventory_read() has it. malloc'd; NULL with err. */
char *facts_read(const char *root, struct error *err);

#endif
