/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_EXTRAS_H
#define MUSTER_CERTIFY_EXTRAS_H

#include "validate/certify/state/run.h"

/* Level and end of the certificates in the nodes' Extra, for jobs that ask for
 * them; out of the Extra of nodes that certify_has_lost_it() */
void certify_extras(struct certify *certify);

#endif
