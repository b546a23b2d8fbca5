/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/history/history.h"

#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/name_index.h"
#include "lib/node/gpu/vendor.h"

static uint64_t mix(uint64_t hash, const char *line)
{
    return hash_text(hash_text(hash, line), "\n");
}

static bool is_counted(const char *name)
{
    static const char *const names[] = {"product",        "cpu.model", "kernel", "driver",
                                        "driver.version", "firmware",  "mtu",    "class",
                                        "model",          "library"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return gpu_vendor_by_driver_fact(name) != GPU_OTHER;
}

void history_fingerprints(const struct records *records, const struct name_index *names,
                          uint64_t *fingerprints)
{
    for (size_t i = 0; i < records->count; i++) {
        const struct record *record = RECORD_AT(records, i);
        uint64_t hash = HASH_BEGIN;
        long place;

        if (!catalog_is_test(record->test, TEST_HOST_CONFIG) || record->verdict != VERDICT_NONE ||
            !record->node || !record->metric || !record->message || !is_counted(record->metric) ||
            (place = name_index_find(names, record->node)) < 0)
            continue;
        hash =
            mix(mix(mix(hash, record->metric), record->part ? record->part : ""), record->message);
        fingerprints[place] += hash; /* a sum does not depend on the order of facts */
    }
}
