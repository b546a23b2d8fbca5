/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_USAGE_H
#define MUSTER_GPU_USAGE_H

#include <stdbool.h>
#include <stddef.h>

/* What the vendor's management library says of the node's devices: who else uses them, as what is
 * loaded beside others is slow, and they are harmed; and what may slow them. */

struct usage {
    struct accelerator_report *report; /* NULL: it could not be read, for that reason */
    char reason[200];
};

/* path and deadline_s as of accelerator_read(). Release with usage_clear(). */
void usage_read(const char *path, double deadline_s, struct usage *usage);
void usage_clear(struct usage *usage);

/* Whether the device of that PCI address is to be left alone, since other processes compute on it,
 * its memory is in use, or that cannot be told; with text. A partition is, too, where they do so on
 * another one of its GPU: it has its power and its memory's bandwidth with them. */
bool usage_forbids(const struct usage *usage, const char *pci, char *text, size_t size);

/* What may slow the device now: "at 1170 of 1980 MHz, 87 C, thermal slowdown (hardware), limited to
 * 350 of 700 W", of these what is told; "": nothing. */
void usage_condition(const struct usage *usage, const char *pci, char *text, size_t size);

#endif
