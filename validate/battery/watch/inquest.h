/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_INQUEST_H
#define MUSTER_INQUEST_H

#include "validate/battery/watch/guests.h"

/* What is wrong with whom, said in records. Where a loss is tolerated (watch_tolerate()) a rank
 * that died, froze or hangs is named, given up, and the job goes on; else, and for all other
 * findings, the job ends: the function takes the output over, speaks, and does not return. */

void inquest_dead(struct warden *warden);
void inquest_frozen(struct warden *warden);
void inquest_stall(struct warden *warden);
void inquest_signal(struct warden *warden);
void inquest_fault(struct warden *warden, int rank, const char *text) __attribute__((noreturn));

/* A rank that could not connect. */
void inquest_unwatched(struct warden *warden);

#endif
