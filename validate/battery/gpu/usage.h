/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_USAGE_H
#define MUSTER_GPU_USAGE_H

#include <stdbool.h>
#include <stddef.h>

/* What the vendor's management library says of the node's devices: whether other processes use
 * them, as a test beside others is slow and harms these; and what may slow the devices. */

struct usage {
    struct accelerator_report *report; /* NULL: it could not be read, for that reason */
    char reason[200];
};

/* path and deadline_s as of accelerator_read(). Release with usage_clear(). */
void usage_read(const char *path, double deadline_s, struct usage *usage);
void usage_clear(struct usage *usage);

/* Whether the device of that PCI address is to be left alone, as other processes compute on it, its
 * memory is in use, or that is not known; text gets the reason. So is a partition if another one of
 * its GPU is in use: they share power and memory bandwidth. */
bool usage_forbids(const struct usage *usage, const char *pci, char *text, size_t size);

/* Writes what may slow the device now, as far as that is known: "at 1170 of 1980 MHz, 87 C, thermal
 * slowdown (hardware), limited to 350 of 700 W"; "": nothing. */
void usage_condition(const struct usage *usage, const char *pci, char *text, size_t size);

#endif
