/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_HEALTH_H
#define MUSTER_COMMAND_HEALTH_H

#include "lib/base/record.h"
#include "lib/conf/conf.h"
#include "lib/node/inventory.h"

/* muster check for a monitor (--nagios) and for slurmd (--health). */

enum { HEALTH_PROBLEMS = 3 /* as many are named; the others are counted */ };

struct health_summary {
    bool lets_rails_fail; /* the caller's: AllowFailedRails */
    size_t counts[VERDICT_FAIL + 1];
    struct {
        enum verdict verdict;
        char text[240];          /* "net.interfaces eth1: eth1 has no carrier; ..." */
    } problems[HEALTH_PROBLEMS]; /* worst first */
    size_t problem_count;
    char drain[200], fault[128]; /* the reason of a drain by the first hard fault, which is
                                  * "link_down eth1"; "" */
};

void health_take(struct health_summary *summary, const struct record *record);

/* "MUSTER CRITICAL - net.interfaces eth1: ...; 1 failed of 23|time=0.012s;1 ..." on standard
 * output. Returns the exit status of a Nagios plugin: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN. */
int health_nagios(const struct health_summary *summary, double seconds);

/* Prints what failed, as many as are named and how many more, and, with HealthDrain=yes, drains the
 * node for a hard fault. Returns the exit status: 0 nothing failed, else 1. */
int health_run(const struct health_summary *summary, const char *node, const struct conf *conf);

/* For the prolog's gate (lib/certificate/brake.h): asks the controller for leave to refuse jobs
 * where this node's certificate is one that muster.conf refuses, takes that back once it holds, and
 * makes a drain by the gate muster's own. Prints what went wrong, and that the brake is on. */
void health_gate(const char *node, const struct inventory *inventory, const struct conf *conf);

#endif
