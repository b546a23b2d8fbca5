/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NETIF_FAKE_H
#define MUSTER_NETIF_FAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/netif/netif_apply.h"

/* A simulated machine for tests, with the interfaces eth1 and eth2, in memory that child processes
 * share. It refuses an MTU above 10000, has no rings, and sets txqueuelen to 768 instead of 777. */

extern struct netif_machine fake_machine;
extern long fake_all_rp_filter; /* net.ipv4.conf.all.rp_filter */
extern int fake_refuse;         /* the errno that setting anything fails with; 0: none */

void fake_reset(void);
long fake_value(const char *interface, enum netif_setting setting);
void fake_set(const char *interface, enum netif_setting setting, long value);
void fake_replace(const char *interface); /* as after unplugging: another index, initial values */
bool fake_has_initial_values(void);

/* Calls netif_apply() with one Interface line, which counts as line 7 of muster.conf. */
void fake_apply(const char *journal_path, const char *line, uint32_t job,
                struct netif_report *report);

/* Called before each step; a test may end the process there. Returns whether the step is to fail.
 * NULL: not called. */
extern bool (*fake_step)(void);

#endif
