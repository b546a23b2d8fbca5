/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/gpu/usage.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/constants/checks_constants.h"
#include "validate/accelerator/accelerator.h"

void usage_read(const char *path, double deadline_s, struct usage *usage)
{
    static const enum gpu_vendor vendors[] = {GPU_NVIDIA, GPU_AMD};

    *usage = (struct usage){0};
    for (size_t i = 0; i < sizeof vendors / sizeof *vendors && !usage->report; i++) {
        struct error err = {""};
        struct accelerator_report *report = accelerator_read(vendors[i], path, deadline_s, &err);

        if (report && report->outcome == OUTCOME_READ && report->count > 0) {
            usage->report = report;
            return;
        }
        if (!*usage->reason || (report && report->outcome != OUTCOME_NO_LIBRARY))
            text_put(usage->reason, sizeof usage->reason, "%s",
                     !report           ? err.text
                     : *report->reason ? report->reason
                                       : "no device is reported");
        free(report);
    }
}

void usage_clear(struct usage *usage)
{
    free(usage->report);
    *usage = (struct usage){0};
}

static const struct accelerator *find(const struct usage *usage, const char *pci)
{
    for (size_t i = 0; usage->report && i < usage->report->count; i++)
        if (strcmp(usage->report->accelerators[i].pci, pci) == 0)
            return &usage->report->accelerators[i];
    return NULL;
}

static bool is_busy(const struct accelerator *device, char *text, size_t size)
{
    const struct accelerator_value *processes = &device->values[ACCELERATOR_PROCESSES];
    const struct accelerator_value *used = &device->values[ACCELERATOR_MEMORY_USED];

    if (processes->answer != ANSWER_PRESENT)
        text_put(text, size,
                 "cannot tell whether others use it: the management library does not "
                 "report its processes");
    else if (processes->number > 0)
        text_put(text, size, "in use by %lld process%s", processes->number,
                 processes->number == 1 ? "" : "es");
    else if (used->answer == ANSWER_PRESENT && used->number > ACCELERATOR_MEMORY_HELD_BYTES)
        text_put(text, size, "%lld MiB of its memory are in use", used->number >> 20);
    else
        return false;
    return true;
}

bool usage_forbids(const struct usage *usage, const char *pci, char *text, size_t size)
{
    bool is_found = false;

    for (size_t i = 0; usage->report && i < usage->report->count; i++) {
        const struct accelerator *device = &usage->report->accelerators[i];

        if (!location_is_same_device(device->pci, pci))
            continue;
        is_found = true;
        if (is_busy(device, text, size))
            return true;
    }
    if (!is_found)
        text_put(text, size, "cannot tell whether others use it: %s",
                 usage->report ? "the management library does not have it" : usage->reason);
    return !is_found;
}

void usage_condition(const struct usage *usage, const char *pci, char *text, size_t size)
{
    const struct accelerator *device = find(usage, pci);
    const char *slowdown;
    long long clock, limit;

    text[0] = '\0';
    if (!device)
        return;
    clock = accelerator_number(device, ACCELERATOR_CLOCK);
    if (clock >= 0 && accelerator_number(device, ACCELERATOR_CLOCK_MAX) > 0)
        text_join(text, size, ", ", "at %lld of %lld MHz", clock,
                  accelerator_number(device, ACCELERATOR_CLOCK_MAX));
    if (accelerator_number(device, ACCELERATOR_TEMPERATURE) >= 0)
        text_join(text, size, ", ", "%lld C", accelerator_number(device, ACCELERATOR_TEMPERATURE));
    slowdown = accelerator_slowdown(accelerator_number(device, ACCELERATOR_CLOCK_REASONS));
    if (slowdown)
        text_join(text, size, ", ", "%s", slowdown);
    limit = accelerator_number(device, ACCELERATOR_POWER_LIMIT);
    if (limit > 0 && limit < accelerator_number(device, ACCELERATOR_POWER_LIMIT_DEFAULT))
        text_join(text, size, ", ", "limited to %lld of %lld W", limit / 1000,
                  accelerator_number(device, ACCELERATOR_POWER_LIMIT_DEFAULT) / 1000);
}
