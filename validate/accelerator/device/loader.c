/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/accelerator/device/loader.h"

#include <dlfcn.h>
#include <string.h>

#include "lib/base/safe_directory.h"

void *loader_open(const char *path, const char *name, bool may_be_elsewhere,
                  enum device_outcome missing, enum device_outcome *outcome, struct error *err)
{
    char file[1100];
    const char *reason;
    void *library;
    int found = safe_file_find(path, name, file, sizeof file, err);

    *outcome = found < 0 ? DEVICE_UNSAFE : missing;
    if (found < 0)
        error_prefix(err, "%s is not loaded", file);
    if (found < 0 || (found == 0 && !may_be_elsewhere))
        return NULL;
    library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        reason = dlerror();
        error_set(err, "%s", reason ? reason : file);
    }
    return library;
}

void *loader_open_any(const char *path, const char *const *names, size_t count, const char **name,
                      enum device_outcome missing, enum device_outcome *outcome, struct error *err)
{
    void *library = NULL;

    *outcome = missing;
    for (size_t i = 0; i < 2 * count && !library && *outcome != DEVICE_UNSAFE; i++) {
        *name = names[i % count];
        library = loader_open(path, *name, i >= count, missing, outcome, err);
    }
    if (!library && *outcome != DEVICE_UNSAFE)
        error_set(err, "%s%s not found; set GpuLibraryPath, or run inside the job's container",
                  names[0], count > 1 ? " or an older one" : "");
    return library;
}

int loader_find(void *library, const char *library_name, const struct loader_symbol *symbols,
                size_t count, enum device_vendor vendor, void *table, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = symbols[i].names[vendor];
        void *function = name ? dlsym(library, name) : NULL;

        if (name && !function)
            return error_set(err, "%s is too old: missing function %s", library_name, name);
        memcpy((char *)table + symbols[i].offset, &function, sizeof function);
    }
    return 0;
}

const char *loader_name(const struct loader_symbol *symbols, enum device_vendor vendor,
                        size_t offset)
{
    while (symbols->offset != offset)
        symbols++;
    return symbols->names[vendor];
}
