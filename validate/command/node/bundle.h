/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_BUNDLE_H
#define MUSTER_COMMAND_BUNDLE_H

#include <stddef.h>

#include "validate/checks/checks.h"
#include "validate/health/evidence.h"

/* What a node knows at the moment in which a health check finds a fault, before anybody reboots it:
 * a tar with the check's warnings and failures (records), the newest of the kernel log, what the
 * node's parts have counted, its inventory, and what the libraries of accelerators told. */

/* Keeps a bundle for that fault where one is wanted (validate/health/evidence.h). records: as
 * lines, size bytes. Returns 1 with a new one; 0 when none is
 * wanted, or the certificate has no directory; -1 with err. */
int bundle_keep(const struct checks *checks, enum fault_code code, const char *part,
                const char *records, size_t size, struct evidence *evidence, struct error *err);

#endif
