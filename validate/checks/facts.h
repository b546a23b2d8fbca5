/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHECKS_FACTS_H
#define MUSTER_CHECKS_FACTS_H

#include "validate/checks/checks.h"

/* Part of host.config: facts, one record each, that the nodes of a cluster should have in common.
 * They have no verdict: the command that sees all nodes compares them. */

/* Reports a fact with its text; an unknown fact ("") is not reported. value: NAN if the fact is not
 * a number. */
void fact_record(const struct checks *checks, const char *metric, const char *part, double value,
                 const char *unit, const char *format, ...) __attribute__((format(printf, 6, 7)));
void fact_text(const struct checks *checks, const char *metric, const char *part, const char *text);
/* Reports a number; a negative number means unknown, and is not reported. */
void fact_number(const struct checks *checks, const char *metric, const char *part,
                 long long number, const char *unit);
/* Reports the first line of the file below the root. */
void fact_line(const struct checks *checks, const char *metric, const char *part, const char *path);

/* One function per file. */
void facts_host(const struct checks *checks);
void facts_rails(const struct checks *checks);
void facts_gpus(const struct checks *checks);
void facts_accelerators(const struct checks *checks);
void facts_software(const struct checks *checks);
void facts_hosts(const struct checks *checks); /* part of net.addresses */

/* Reads the first 20 bytes, or fewer, of a 64-bit ELF file's build id (note NT_GNU_BUILD_ID of the
 * GNU ABI) as hexadecimal digits; "" if the file has none. path is below root. */
enum { BUILD_ID_TEXT = 41 };
void build_id_read(const char *root, const char *path, char text[BUILD_ID_TEXT]);

/* Settings in a PCI function's configuration space (PCI Express Base Specification 7.5.3.4, device
 * control; 7.7.11, access control services). Reading them needs root. */
struct pci_settings {
    int payload_bytes, read_request_bytes; /* 0: unknown */
    int redirects; /* 1: ACS redirects peer-to-peer requests to the root complex; 0: it does not;
                      -1: unknown, or the function has no ACS */
};
void pci_settings_read(const char *root, const char *pci, struct pci_settings *settings);

#endif
