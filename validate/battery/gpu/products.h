/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_PRODUCTS_H
#define MUSTER_GPU_PRODUCTS_H

#include "validate/accelerator/device/blas.h"
#include "validate/battery/gpu/worker.h"

/* Matrix products on a device, in its process: their rate, and whether each element is right. Each
 * returns 0, a number below it for what was not tested, or above it for what failed; with err. */

int product_compute(struct device *device, enum precision precision, struct worker_answer *answer,
                    struct error *err);

/* So many times over. */
int product_repeat(struct device *device, int amount, struct worker_answer *answer,
                   struct error *err);

/* By the vendor's library; value is 0 where the device has no such precision. An error of the
 * library's is not held against the device. */
int product_blas(const char *path, struct device *device, enum blas_precision precision,
                 struct worker_answer *answer, struct error *err);

#endif
