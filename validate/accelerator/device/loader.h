/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ACCELERATOR_LOADER_H
#define MUSTER_ACCELERATOR_LOADER_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "validate/accelerator/device/device.h"

/* Internals of validate/accelerator/device: loads a vendor's library, and its functions into a
 * table. */

/* Opens the library from the directories of path, else, if may_be_elsewhere, as dlopen finds it.
 * Returns the handle of dlopen; or NULL with err, and with the reason in *outcome: DEVICE_UNSAFE,
 * or `missing`. */
void *loader_open(const char *path, const char *name, bool may_be_elsewhere,
                  enum device_outcome missing, enum device_outcome *outcome, struct error *err);

/* Opens the first of the names that is in the directories of path, else the first that dlopen
 * finds: an older library in path is preferred to a newer one elsewhere. Returns the handle of
 * dlopen, with the name in *name; or NULL with err, and with the reason in *outcome: DEVICE_UNSAFE,
 * or `missing`. */
void *loader_open_any(const char *path, const char *const *names, size_t count, const char **name,
                      enum device_outcome missing, enum device_outcome *outcome, struct error *err);

struct loader_symbol {
    const char *names[DEVICE_VENDORS]; /* NULL: the vendor's library has no such function */
    size_t offset;                     /* in the table */
};

/* Fills the table with the functions. Returns 0, or -1 with err: "LIBRARY is too old: missing
 * function NAME". */
int loader_find(void *library, const char *library_name, const struct loader_symbol *symbols,
                size_t count, enum device_vendor vendor, void *table, struct error *err);

/* Returns the vendor's name of the function at the offset in the table. */
const char *loader_name(const struct loader_symbol *symbols, enum device_vendor vendor,
                        size_t offset);

#endif
