/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TRAIN_BATTERY_H
#define MUSTER_TRAIN_BATTERY_H

/* muster-train battery: runs the train.* tests; rank 0 prints their records. Returns the exit
 * status: 0 passed, 1 a test failed, 2 usage, 3 a test could not measure. */
int battery_main(int argc, char **argv);

#endif
