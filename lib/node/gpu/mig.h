/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MIG_H
#define MUSTER_MIG_H

#include <stddef.h>

/* Returns the number of MIG compute instances, CUDA's devices, of all GPUs of the node, whether
 * they can be opened or not. */
size_t mig_instances_count(const char *root);

#endif
