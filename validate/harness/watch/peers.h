/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PEERS_H
#define MUSTER_PEERS_H

#include <netinet/in.h>
#include <stddef.h>

/* Accepts TCP connections to this process only from the run's nodes, whatever library listens (MPI,
 * UCX). A program that links this file exports its own accept() and accept4(), which shared
 * libraries find before libc's. They close a connection from any other address before the library
 * reads a byte. This needs no privilege. It keeps out other hosts, but not other processes on the
 * run's own nodes. Until the addresses are known every connection is accepted. */

/* The environment variable with the node addresses that the starter of a step knows beforehand:
 * ranges as by address_ranges_text(). */
#define PEERS_VARIABLE "MUSTER_PEERS"

/* Call it before the first library listens. From now on connections are accepted from the ranges of
 * the variable and from this node only. Without the variable, or if it cannot be parsed, nothing
 * changes. Removes the variable from the environment. */
void peers_read_environment(void);

/* From now on connections are accepted from these addresses only, whatever was set before. Shuts
 * down connections that were accepted earlier from other addresses. Returns 0, or -1 if memory is
 * out: then nothing changes. */
int peers_set(const struct in6_addr *addresses, size_t count);

/* Prints on standard error the number of closed connections, if any. */
void peers_report(const char *program, const char *node);

#endif
