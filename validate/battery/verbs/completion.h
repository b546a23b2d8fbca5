/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMPLETION_H
#define MUSTER_COMPLETION_H

#include <stddef.h>
#include <stdint.h>

#include "validate/battery/verbs/verb.h"

/* Explains a work completion that is not a success (InfiniBand Architecture Specification 1.3,
 * 10.10.2 and 11.6.2), in a sentence that names both ends. Pure. */

struct completion_ends {
    enum verb verb;
    const char *port;      /* "rxe1:1" */
    const char *peer_port; /* "rxe2:1" */
    const char *peer;      /* its node; "" or NULL: this one */
};

/* status: enum ibv_wc_status. vendor: vendor_err of the completion, 0: not known. */
void completion_explain(int status, uint32_t vendor, const struct completion_ends *ends, char *text,
                        size_t size);

#endif
