/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_EXTRAS_H
#define MUSTER_CERTIFY_EXTRAS_H

#include "validate/certify/state/run.h"

/* Writes level and expiry of the certificates to the nodes' Extra, for jobs that request them, and
 * removes them from the Extra of nodes that certify_loses_certificate(). Slurm changes an Extra as
 * a whole, so a health check that runs at the same time may restore the old one. With is_again,
 * missing ones are written once more, and what health checks have published since then stays. */
void certify_extras(struct certify *certify, bool is_again);

#endif
