/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ACCELERATOR_LOADER_H
#define MUSTER_ACCELERATOR_LOADER_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "validate/accelerator/device/device.h"

/* Inside of validate/accelerator/device: a vendor's library, and its functions into a table. */

/* From the directories of path, else, where it may, as dlopen finds it. Returns what dlopen does;
 * NULL with err, and in *outcome why: DEVICE_UNSAFE or missing. */
void *loader_open(const char *path, const char *name, bool may_be_elsewhere,
                  enum device_outcome missing, enum device_outcome *outcome, struct error *err);

/* The first of the names that the directories of path have, else the first one that dlopen finds:
 * an older one of the path goes before a newer one elsewhere. Returns what dlopen does, with which
 * one in *name; NULL with err. *outcome: DEVICE_UNSAFE or missing. */
void *loader_open_any(const char *path, const char *const *names, size_t count, const char **name,
                      enum device_outcome missing, enum device_outcome *outcome, struct error *err);

struct loader_symbol {
    const char *names[DEVICE_VENDORS]; /* NULL: that vendor's library has no such function */
    size_t offset;                     /* in the table */
};

/* Returns 0, or -1 with err: "missing function NAME". */
int loader_find(void *library, const struct loader_symbol *symbols, size_t count,
                enum device_vendor vendor, void *table, struct error *err);

/* The vendor's name of the function at that place of the table. */
const char *loader_name(const struct loader_symbol *symbols, enum device_vendor vendor,
                        size_t offset);

#endif
