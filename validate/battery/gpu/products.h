/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_PRODUCTS_H
#define MUSTER_GPU_PRODUCTS_H

#include "validate/accelerator/device/blas.h"
#include "validate/battery/gpu/worker.h"

/* Matrix products on a device, in its process: their rate, and whether each element is right. Each
 * returns 0 or, with err, a negative number if that was not tested, a positive one if it failed. */

int product_compute(struct device *device, enum precision precision, struct worker_answer *answer,
                    struct error *err);

/* Runs `amount` products, one after the other. */
int product_repeat(struct device *device, int amount, struct worker_answer *answer,
                   struct error *err);

/* By the vendor's library; value is 0 if the device does not have the precision. An error of the
 * library does not count against the device. */
int product_blas(const char *path, struct device *device, enum blas_precision precision,
                 struct worker_answer *answer, struct error *err);

#endif
