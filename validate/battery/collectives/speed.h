/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_SPEED_H
#define MUSTER_BATTERY_SPEED_H

#include "validate/harness/program.h"

/* Allreduce of float at a few sizes, for about seconds each: the bus bandwidth as nccl-tests
 * defines it, algbw x 2 (p - 1) / p, the median over iterations of the slowest rank. For
 * information: nobody judges it here. All ranks call it. */
void speed_measure(struct program *program, double seconds);

/* Times a collective: run() does it once and returns this rank's time, for about seconds in all. On
 * rank 0 slowest has the time of the slowest rank of each. Returns how many. All ranks of comm call
 * it. */
enum { SPEED_ITERATIONS = 100 };
int speed_time(MPI_Comm comm, double seconds, double (*run)(const void *context),
               const void *context, double slowest[SPEED_ITERATIONS]);

/* The record of these times. bus_bytes: what the bus carries each time. */
struct record speed_record(const char *part, double bus_bytes, const double *times, int count);

#endif
