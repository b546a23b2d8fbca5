/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_EXTRAS_H
#define MUSTER_CERTIFY_EXTRAS_H

#include "validate/certify/state/run.h"

/* Level and end of the certificates in the nodes' Extra, for jobs that ask for them; out of the
 * Extra of nodes that certify_has_lost_it(). Slurm changes a text as a whole: a health check that
 * read it before and wrote it after has taken that back. Later it is written once more where it is
 * missing, is_again, and what health checks have published since then stays. */
void certify_extras(struct certify *certify, bool is_again);

#endif
