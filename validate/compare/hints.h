/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HINTS_H
#define MUSTER_HINTS_H

#include "lib/conf/conf.h"
#include "validate/compare/reference.h"
#include "validate/report/records.h"

/* The reference table and the hardware that a node told of itself. */

/* Reads the configuration's table. Without a file in the default place, and with an empty key, the
 * table is empty. Returns 0, or -1 with err "FILE:LINE: ...". */
int hints_read(const struct conf *conf, struct reference *reference, struct error *err);

/* What the facts (host.config) among the records since first say of the node, and with rail not
 * NULL of that rail. Its strings are the records'. */
struct reference_hardware hints_hardware(const struct records *records, size_t first,
                                         const char *node, const char *rail);

#endif
