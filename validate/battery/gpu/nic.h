/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_NIC_H
#define MUSTER_GPU_NIC_H

#include "validate/battery/gpu/worker.h"

/* Writes of an RDMA port to itself, from and to host memory or memory of the device, as of
 * GPUDirect RDMA: what the port does with the one beside what it does with the other. In the
 * device's process. kind: enum nic_write. The answer's value is GB/s; its outcome WORKER_WRONG
 * where what arrived is not what was sent (wrong > 0), or the writes failed (wrong 0, with err).
 * Returns 0, a number below it for what was not tested, as where the port cannot reach the device's
 * memory, or above it for what failed in the driver; with err. */
int nic_measure(struct device *device, const struct worker_request *request,
                struct worker_answer *answer, struct error *err);

#endif
