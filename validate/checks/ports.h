/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHECKS_PORTS_H
#define MUSTER_CHECKS_PORTS_H

#include "validate/checks/checks.h"

/* Inside of net.interfaces: what an RDMA port tells of itself beside its state and speed. Each
 * returns how many problems it reported. */

/* One lane of several: Linux writes the width with the rate, "50 Gb/sec (1X HDR)". */
int port_check_width(const struct checks *checks, const struct rail *rail);

/* InfiniBand partitions: a port that is a full member of none reaches only full members (InfiniBand
 * Architecture Specification 1.3, 10.9.3). */
int port_check_partitions(const struct checks *checks, const struct rail *rail);

/* Firmware other than that of most ports of the same board. */
int port_check_firmware(const struct checks *checks, const struct rail *rail);

#endif
