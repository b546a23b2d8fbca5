/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/choose/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/base/memory_stream.h"
#include "lib/base/sysfs.h"
#include "lib/base/text.h"
#include "lib/node/inventory.h"

/* The first "model name" of /proc/cpuinfo, or the name of the architecture. */
static void read_processor(const char *root, char *model, size_t size)
{
    char *text = sysfs_file(root, 1 << 16, "proc/cpuinfo");
    const char *found = text != NULL ? text_after(text, "model name") : NULL;
    struct utsname name;

    if (found != NULL)
        found += strspn(found, " \t:");
    else
        found = uname(&name) == 0 ? name.machine : "?";
    snprintf(model, size, "%.*s", (int)strcspn(found, "\n"), found);
    free(text);
}

static bool is_in_use(const struct nic *nic)
{
    return nic->is_physical && nic->has_carrier;
}

static bool is_same_kind(const struct nic *left, const struct nic *right)
{
    return strcmp(left->driver, right->driver) == 0 && left->speed_mbps == right->speed_mbps;
}

static void print_nics(const struct inventory *inventory, FILE *stream)
{
    for (size_t i = 0; i < inventory->nic_count; i++) {
        const struct nic *nic = &inventory->nics[i];
        bool is_first = is_in_use(nic);
        unsigned number = 0;

        for (size_t j = 0; j < i && is_first; j++)
            is_first = !is_in_use(&inventory->nics[j]) || !is_same_kind(nic, &inventory->nics[j]);
        if (!is_first)
            continue;
        for (size_t j = i; j < inventory->nic_count; j++)
            number += is_in_use(&inventory->nics[j]) && is_same_kind(nic, &inventory->nics[j]);
        fprintf(stream, ", %s %dMb/s x%u", nic->driver, nic->speed_mbps, number);
    }
}

char *facts_read(const char *root, struct error *err)
{
    struct inventory *inventory = inventory_read(root, err);
    char model[256], *text = NULL;
    struct utsname name;
    size_t size;
    FILE *stream;

    if (inventory == NULL)
        return NULL;
    stream = memory_stream(&text, &size);
    if (stream == NULL) {
        error_set(err, "out of memory");
        goto end;
    }
    read_processor(root, model, sizeof model);
    fprintf(stream, "%s, %ld cpus", model, sysconf(_SC_NPROCESSORS_ONLN));
    print_nics(inventory, stream);
    fprintf(stream, ", Linux %s", uname(&name) == 0 ? name.release : "?");
    if (fclose(stream) != 0)
        error_set(err, "out of memory");
end:
    inventory_free(inventory);
    return text;
}
