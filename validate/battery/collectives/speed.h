/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_SPEED_H
#define MUSTER_BATTERY_SPEED_H

#include "validate/harness/program.h"

/* Measures allreduce of float at a few sizes, for about `seconds` each: the bus bandwidth as
 * nccl-tests defines it, algbw x 2 (p - 1) / p, by the median over iterations of the time of the
 * slowest rank. For information: it has no verdict. All ranks call it. */
void speed_measure(struct program *program, double seconds);

/* Times a collective for about `seconds` in all: run() runs it once and returns the time on this
 * rank. On rank 0, slowest gets the time of the slowest rank in each iteration. Returns the number
 * of iterations. All ranks of comm call it. */
enum { SPEED_ITERATIONS = 100 };
int speed_time(MPI_Comm comm, double seconds, double (*run)(const void *context),
               const void *context, double slowest[SPEED_ITERATIONS]);

/* Returns the record of these times. bus_bytes: what the bus carries each time. */
struct record speed_record(const char *part, double bus_bytes, const double *times, int count);

#endif
