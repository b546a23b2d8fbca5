/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SOCKETS_H
#define MUSTER_SOCKETS_H

/* The descriptors that this process has now, whatever library holds them. Most may be no sockets:
 * take() finds out. */
void sockets_each(void (*take)(int socket, void *context), void *context);

/* Bytes of the TCP connections among them: from the kernel (tcp_info(7), tcpi_bytes_acked and
 * tcpi_bytes_received; RFC 4898 tcpEStatsAppHCThruOctetsAcked and ...Received). */

/* Sent, and acknowledged by the other end; connections to this host itself (lo) are left out. */
double sockets_sent_bytes(void);

/* Sent and acknowledged, and received; without that of the socket `except` (-1: of none). */
double sockets_moved_bytes(int except);

#endif
