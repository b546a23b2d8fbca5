/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHECKS_PORTS_H
#define MUSTER_CHECKS_PORTS_H

#include "validate/checks/checks.h"

/* Part of net.interfaces: checks of an RDMA port other than its state and speed. Each returns the
 * number of problems it reported. */

/* Checks that an InfiniBand port does not run on one lane of several: Linux writes the width with
 * the rate, "50 Gb/sec (1X HDR)". */
int port_check_width(const struct checks *checks, const struct rail *rail);

/* Checks the InfiniBand partitions: a port that is a full member of no partition reaches only full
 * members (InfiniBand Architecture Specification 1.3, 10.9.3). */
int port_check_partitions(const struct checks *checks, const struct rail *rail);

/* Checks that the firmware is that of most ports of the node on the same board model. */
int port_check_firmware(const struct checks *checks, const struct rail *rail);

#endif
