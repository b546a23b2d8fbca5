/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NETIF_FAKE_H
#define MUSTER_NETIF_FAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/netif/netif_apply.h"

/* A machine made up for tests, with the interfaces eth1 and eth2, in memory that child processes
 * share. It takes no MTU above 10000, has no rings, and makes txqueuelen 777 a 768. */

extern struct netif_machine fake_machine;
extern long fake_all_rp_filter; /* net.ipv4.conf.all.rp_filter */
extern bool fake_refuse;        /* sets nothing any more */

void fake_reset(void);
long fake_value(const char *interface, enum netif_setting setting);
void fake_set(const char *interface, enum netif_setting setting, long value);
void fake_replace(const char *interface); /* as by unplugging: another index, first values */
bool fake_is_as_before(void);

/* netif_apply() with one Interface line, said to be line 7 of muster.conf. */
void fake_apply(const char *journal_path, const char *line, uint32_t job,
                struct netif_report *report);

/* Called before each step; a test may end the process there. NULL: nothing. Returns true to make
 * the step fail. */
extern bool (*fake_step)(void);

#endif
