/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_NIC_H
#define MUSTER_GPU_NIC_H

#include "validate/battery/gpu/worker.h"

/* Measures writes of an RDMA port to itself, from and to host memory or memory of the device
 * (GPUDirect RDMA), so that the two can be compared. Runs in the process of the device.
 * request->kind: enum nic_write. Sets answer->value to GB/s, and the outcome to WORKER_WRONG if
 * what arrived is not what was sent (wrong > 0), or if the writes failed (wrong 0, with err).
 * Returns 0; a negative number with err if it was not tested, such as when the port cannot reach
 * the device's memory; a positive one with err if the driver failed. */
int nic_measure(struct device *device, const struct worker_request *request,
                struct worker_answer *answer, struct error *err);

#endif
