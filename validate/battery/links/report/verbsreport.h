/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VERBSREPORT_H
#define MUSTER_VERBSREPORT_H

#include "validate/battery/links/report/linkreport.h"

/* What concerns RDMA rails, as records, on the first node. */

/* Reports a port that takes no part in what libibverbs measures, or what is known of GPU memory
 * there. */
void verbsreport_port(const struct program *program, const struct link_result *result);

/* Warns if a larger share of packets than VERBS_LOSS_LIMIT was sent again or came out of order. */
void verbsreport_loss(const struct program *program, const struct link_result *result);

/* Warns of two nodes with one rail so much slower that an even share over all rails is slower than
 * the fastest alone. */
void verbsreport_striping(const struct program *program, const struct link_results *results);

#endif
