/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_HEALTH_H
#define MUSTER_COMMAND_HEALTH_H

#include "lib/base/record.h"
#include "lib/conf/conf.h"
#include "lib/node/inventory.h"

/* muster check for a monitor (--nagios) and for slurmd (--health). */

enum { HEALTH_PROBLEMS = 3 /* problems that are named; the others are only counted */ };

struct health_summary {
    bool lets_rails_fail; /* set by the caller: AllowFailedRails */
    const char *only;     /* set by the caller: the tests that run, as for check_is_wanted() */
    size_t counts[VERDICT_FAIL + 1];
    struct {
        enum verdict verdict;
        char text[240];          /* "net.interfaces eth1: eth1 has no carrier; ..." */
    } problems[HEALTH_PROBLEMS]; /* worst first */
    size_t problem_count;
    char drain[200], fault[128]; /* of the first hard fault: the reason of the drain, and the fault
                                  * as "net.interfaces link_down eth1"; "" */
};

/* Adds a record to the summary. */
void health_take(struct health_summary *summary, const struct record *record);

/* Prints "MUSTER CRITICAL - net.interfaces eth1: ...; 1 failed, 0 unknown, ...|time=0.012s;1 ...".
 * Returns the exit status of a Nagios plugin: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN. */
int health_nagios(const struct health_summary *summary, double seconds);

/* Prints the named failures and the number of others. With HealthDrain=yes, drains the node for a
 * hard fault. A check without one leaves the state of an earlier fault as it is if it did not run
 * the test that found that. Returns the exit status: 0 if nothing failed, else 1. */
int health_run(const struct health_summary *summary, const char *node, const struct conf *conf);

/* For the prolog's gate (lib/certificate/brake.h). If muster.conf refuses this node's certificate,
 * finds by the controller whether the node may refuse jobs; withdraws this once the certificate is
 * valid. Marks a drain caused by the gate as muster's. Prints errors, and that the brake is on. */
void health_gate(const char *node, const struct inventory *inventory, const struct conf *conf);

#endif
