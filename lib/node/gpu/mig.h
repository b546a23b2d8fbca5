/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MIG_H
#define MUSTER_MIG_H

#include <stddef.h>

/* How many MIG compute instances, which CUDA has for devices, all GPUs of the node have, whoever
 * may open them. */
size_t mig_instances_count(const char *root);

#endif
