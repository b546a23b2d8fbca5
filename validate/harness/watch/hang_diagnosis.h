/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HANG_DIAGNOSIS_H
#define MUSTER_HANG_DIAGNOSIS_H

#include "validate/harness/watch/members.h"

/* Reports which rank has which fault, as records. If losses are tolerated
 * (watch_tolerate_losses()), a dead, frozen or hung rank is reported and given up, and the job
 * continues. Else, and for all other findings, the job ends: the function takes over the output,
 * prints its records, and does not return. */

void diagnosis_dead(struct monitor *monitor);
void diagnosis_frozen(struct monitor *monitor);
void diagnosis_stall(struct monitor *monitor);
void diagnosis_signal(struct monitor *monitor);
void diagnosis_fault(struct monitor *monitor, int rank, const char *text) __attribute__((noreturn));

/* Warns of ranks that did not connect, once all ranks have tried. Returns. */
void diagnosis_unwatched(struct monitor *monitor);

#endif
