/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HINTS_H
#define MUSTER_HINTS_H

#include "lib/conf/conf.h"
#include "validate/compare/reference.h"
#include "validate/report/records.h"

/* The reference table, and the hardware that a node has reported. */

/* Reads the configuration's table. If there is no file in the default place, or the key is empty,
 * the table is empty. Returns 0, or -1 with err "FILE:LINE: ...". */
int hints_read(const struct conf *conf, struct reference *reference, struct error *err);

/* Returns the hardware of the node, and of the rail if not NULL, by the facts (host.config) in the
 * records from `first` on. Its strings belong to the records. */
struct reference_hardware hints_hardware(const struct records *records, size_t first,
                                         const char *node, const char *rail);

#endif
