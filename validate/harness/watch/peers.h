/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PEERS_H
#define MUSTER_PEERS_H

#include <netinet/in.h>
#include <stddef.h>

/* TCP connections to this process are those of the run's nodes alone, whatever library listens
 * (MPI, UCX): a program that links this file exports accept() and accept4() of its own, which
 * shared libraries find before libc's. They close a connection from any other address before the
 * library reads a byte. That needs no privilege. It keeps out other hosts, not other processes on
 * the run's own nodes. Until the addresses are known every connection is accepted. */

/* What whoever starts a step knows of its nodes' addresses beforehand: a variable of the
 * environment, ranges as of address_ranges_text(). */
#define PEERS_VARIABLE "MUSTER_PEERS"

/* To be called before the first library listens: from now on what is in these ranges is accepted,
 * and this node itself. Without the variable, or where it cannot be understood, nothing changes. */
void peers_take_environment(void);

/* From now on these addresses alone are accepted, whatever was known before. Connections that were
 * accepted before from others are shut down. Returns -1 and changes nothing without memory. */
int peers_set(const struct in6_addr *addresses, size_t count);

/* Prints on standard error how many connections were closed, if any. */
void peers_report(const char *program, const char *node);

#endif
