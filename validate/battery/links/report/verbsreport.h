/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VERBSREPORT_H
#define MUSTER_VERBSREPORT_H

#include "validate/battery/links/report/linkreport.h"

/* The first node's: what concerns RDMA rails, as records. */

/* A port that takes no part in what libibverbs measures, or what is known of GPU memory there. */
void verbsreport_port(const struct program *program, const struct link_result *result);

/* Bandwidth and latency of a verb. metric: of the bandwidth. */
void verbsreport_figures(const struct program *program, const struct link_result *result,
                         const char *metric, int shared, double floor_percent);

/* A warning where more packets than LOSS_LIMIT were sent again or came out of order. */
void verbsreport_loss(const struct program *program, const struct link_result *result);

/* A warning for two nodes of which one rail is so much slower that an even share over all of them
 * is slower than the fastest alone. */
void verbsreport_striping(const struct program *program, const struct link_results *results);

#endif
