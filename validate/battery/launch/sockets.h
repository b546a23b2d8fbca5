/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_SOCKETS_H
#define MUSTER_BATTERY_SOCKETS_H

/* Bytes that this process has sent on the TCP connections which it has now, and which their other
 * ends have acknowledged; connections to this host itself (lo) are left out. Whatever library holds
 * them: the kernel tells (tcp_info(7), tcpi_bytes_acked, RFC 4898 tcpEStatsAppHCThruOctetsAcked).
 */
double sockets_sent_bytes(void);

#endif
