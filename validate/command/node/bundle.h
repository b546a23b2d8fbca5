/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_BUNDLE_H
#define MUSTER_COMMAND_BUNDLE_H

#include <stddef.h>

#include "validate/checks/checks.h"
#include "validate/health/evidence.h"

/* Stores evidence when a health check finds a fault, before the node is rebooted: a tar with the
 * check's warnings and failures (records), the newest entries of the kernel log, the counters of
 * the node's parts, its inventory, and the reports of the libraries of accelerators. */

/* Stores a bundle for the fault if one is wanted (validate/health/evidence.h). records: lines, size
 * bytes. Returns 1 if it stored one; 0 if none is wanted, or the certificate has no directory; or
 * -1 with err. */
int bundle_keep(const struct checks *checks, enum fault_code code, const char *part,
                const char *records, size_t size, struct evidence *evidence, struct error *err);

#endif
