/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PROBE_H
#define MUSTER_PROBE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/fabric/fabric.h"

/* Tests whether frames of a rail's MTU arrive end to end, by datagrams of several sizes that must
 * not be fragmented (DF), over the rail's own interface. A switch on the path with a smaller MTU
 * drops long ones silently, and TCP then hangs. IPv4 only; if a node cannot do it the result is not
 * known. */

struct probe;

/* What the partner needs. Sent as a raw struct. */
struct probe_address {
    struct sockaddr_in address; /* sin_port 0: no probes here */
    int32_t mtu_bytes;          /* of the interface */
    int32_t hangs_if_cut;       /* what it sends hangs if long frames are lost: TCP that does not
                                  look for a smaller MTU by itself (net.ipv4.tcp_mtu_probing) */
};

/* Opens a probe and sets its address. Returns NULL if that is not possible on this rail; the
 * address says so too, with the MTU if that is known. */
struct probe *probe_open(const struct inventory *inventory, const struct rail *rail,
                         struct probe_address *address);
void probe_close(struct probe *probe);

/* Sends probes to the partner: two of each size, up to the MTU of this end. */
void probe_send(const struct probe *probe, const struct probe_address *to, uint64_t session);

/* Returns the longest packet that has come from the partner in that session, in bytes as the MTU
 * counts them; 0: none came, -1: not possible at one of the ends. */
int probe_receive(const struct probe *probe, const struct probe_address *from, uint64_t session);

/* Whether long frames are lost between these. path_mtu_bytes: the longest packet that arrived. */
bool probe_is_cut(const struct probe_address *from, const struct probe_address *to,
                  int path_mtu_bytes);

#endif
