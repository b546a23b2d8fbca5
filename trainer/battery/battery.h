/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TRAIN_BATTERY_H
#define MUSTER_TRAIN_BATTERY_H

/* muster-train battery: the train.* tests, records of which rank 0 prints. Returns the exit status:
 * 0 nothing bad, 1 something failed, 2 usage, 3 something could not be told. */
int battery_main(int argc, char **argv);

#endif
