/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/compare/hints.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/regular_file.h"

enum { TABLE_MAX = 1 << 20 };

int hints_read(const struct conf *conf, struct reference *reference, struct error *err)
{
    char *text = NULL;
    int result;

    *reference = (struct reference){0};
    if (!*conf->reference_path)
        return 0;
    result = regular_file_read(conf->reference_path, TABLE_MAX, &text, err);
    if (result == 1 && strcmp(conf->reference_path, MUSTER_PKGDATADIR "/reference.conf") == 0)
        return 0; /* muster runs from its build directory */
    if (result == 0)
        result = reference_parse(text, conf->reference_path, reference, err);
    free(text);
    return result == 0 ? 0 : -1;
}

struct reference_hardware hints_hardware(const struct records *records, size_t first,
                                         const char *node, const char *rail)
{
    struct reference_hardware hardware = {.gpu = "", .cpu = ""};

    for (size_t i = first; i < records->count; i++) {
        const struct record *record = RECORD_AT(records, i);

        if (!catalog_is_test(record->test, TEST_HOST_CONFIG) || record->verdict != VERDICT_NONE ||
            !record->node || strcmp(record->node, node) != 0 || !record->metric || !record->message)
            continue;
        if (catalog_is_metric(record->metric, METRIC_MODEL) && !*hardware.gpu)
            hardware.gpu = record->message;
        else if (catalog_is_metric(record->metric, METRIC_CPU_MODEL))
            hardware.cpu = record->message;
        else if (catalog_is_metric(record->metric, METRIC_GPU_COUNT) && isfinite(record->value))
            hardware.gpus = (int)record->value;
        else if (rail && record->part && strcmp(record->part, rail) == 0 &&
                 catalog_is_metric(record->metric, METRIC_SPEED) && isfinite(record->value))
            hardware.nic_gbps = record->value / 1000;
    }
    return hardware;
}
