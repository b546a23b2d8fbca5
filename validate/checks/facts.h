/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHECKS_FACTS_H
#define MUSTER_CHECKS_FACTS_H

#include "validate/checks/checks.h"

/* Inside of host.config: facts, one record each, that the nodes of a cluster should have in
 * common. They have no verdict: whoever sees all nodes judges them. */

/* An unknown fact ("") is not told. value NAN when the fact is no number. */
void fact_record(const struct checks *checks, const char *metric, const char *part, double value,
                 const char *unit, const char *format, ...) __attribute__((format(printf, 6, 7)));
void fact_text(const struct checks *checks, const char *metric, const char *part, const char *text);
/* A negative number is not told. */
void fact_number(const struct checks *checks, const char *metric, const char *part,
                 long long number, const char *unit);
/* The first line of the file below the root. */
void fact_line(const struct checks *checks, const char *metric, const char *part, const char *path);

/* What the files define. */
void facts_host(const struct checks *checks);
void facts_rails(const struct checks *checks);
void facts_gpus(const struct checks *checks);
void facts_accelerators(const struct checks *checks);
void facts_software(const struct checks *checks);
void facts_hosts(const struct checks *checks); /* of net.addresses */

/* The 20 bytes (as many as there are, at most) of a 64-bit ELF file's build id (note
 * NT_GNU_BUILD_ID of the GNU ABI) as hexadecimal digits; "" where the file has none. path is below
 * root. */
enum { BUILD_ID_TEXT = 41 };
void build_id_read(const char *root, const char *path, char text[BUILD_ID_TEXT]);

/* What a PCI function's configuration space says (PCI Express Base Specification 7.5.3.4, device
 * control; 7.7.11, access control services). Needs root; 0 and -1 where it cannot be read. */
struct pci_settings {
    int payload_bytes, read_request_bytes; /* 0: not told */
    int redirects; /* 1: ACS sends peer-to-peer requests to the root complex; 0: it does not; -1:
                      not told, or the function has no ACS */
};
void pci_settings_read(const char *root, const char *pci, struct pci_settings *settings);

#endif
