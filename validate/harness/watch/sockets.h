/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SOCKETS_H
#define MUSTER_SOCKETS_H

/* Calls take() for each open file descriptor of this process, whatever library owns it. Many are
 * not sockets; take() must check. */
void sockets_each(void (*take)(int socket, void *context), void *context);

/* Byte counts of all TCP connections of this process, from the kernel (tcp_info(7),
 * tcpi_bytes_acked and tcpi_bytes_received; RFC 4898 tcpEStatsAppHCThruOctetsAcked and
 * ...Received). */

/* Returns the bytes sent and acknowledged, without connections to this host itself (lo). */
double sockets_sent_bytes(void);

/* Returns the bytes sent and acknowledged plus the bytes received, without the socket `except` (-1:
 * all sockets). */
double sockets_moved_bytes(int except);

#endif
