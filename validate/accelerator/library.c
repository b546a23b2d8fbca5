/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/accelerator/library.h"
#include "lib/base/text.h"

#include <dlfcn.h>
#include <stdio.h>

int reading_end(struct reading *reading, enum accelerator_outcome outcome, const char *format, ...)
{
    TEXT_FORMAT(reading->report->reason, sizeof reading->report->reason, format);
    reading->report->outcome = outcome;
    return -1;
}

void *reading_function(struct reading *reading, const char *name)
{
    *reading->function = name;
    return dlsym(reading->library, name);
}

void value_set(struct accelerator *device, enum accelerator_value_id id, long long number)
{
    device->values[id] = (struct accelerator_value){ANSWER_PRESENT, 0, number};
}

void value_fail(struct accelerator *device, enum accelerator_value_id id,
                enum accelerator_answer answer, int error)
{
    device->values[id] = (struct accelerator_value){answer, error, 0};
}

/* ---------------------------------------------------------------- answers */

static struct reading_status status_of(const struct reading *reading, int code)
{
    if (code == READING_NO_FUNCTION)
        return (struct reading_status){code, ANSWER_NO_FUNCTION, ACCELERATOR_OK};
    for (const struct reading_status *status = reading->reader->statuses; status->code; status++)
        if (status->code == code)
            return *status;
    return (struct reading_status){code, ANSWER_ERROR, ACCELERATOR_OK};
}

void reading_take(struct reading *reading, struct accelerator *device, enum accelerator_value_id id,
                  int result, long long number)
{
    struct reading_status status;

    if (result == 0) {
        value_set(device, id, number);
        return;
    }
    status = status_of(reading, result);
    if (status.state != ACCELERATOR_OK && device->error == 0)
        device->error = result;
    if (status.state == ACCELERATOR_LOST || device->state == ACCELERATOR_OK)
        device->state = status.state;
    value_fail(device, id, status.answer, result);
}

int reading_query(struct reading *reading, const char *function, void *answer)
{
    void *get = reading_function(reading, function);

    return get ? READING_CALL_DEVICE(reading, get, (void *), answer) : READING_NO_FUNCTION;
}

void reading_text(struct reading *reading, const char *function, char *text)
{
    void *get = reading_function(reading, function);
    char found[256] = "";

    if (get && READING_CALL_DEVICE(reading, get, (char *, unsigned), found,
                                   (unsigned)sizeof found - 1) == 0)
        snprintf(text, INVENTORY_NAME, "%.*s", INVENTORY_NAME - 1, found);
}

void reading_system_text(struct reading *reading, const char *function, char *text)
{
    char found[256] = "";

    if (READING_CALL(reading, function, (char *, unsigned), found, sizeof found - 1) == 0)
        snprintf(text, INVENTORY_NAME, "%.*s", INVENTORY_NAME - 1, found);
}

void reading_pci(struct accelerator *device, unsigned domain, unsigned bus, unsigned slot,
                 unsigned function)
{
    snprintf(device->pci, sizeof device->pci, "%04x:%02x:%02x.%x", domain, bus, slot, function);
}

void reading_pci_text(struct accelerator *device, const char *text)
{
    unsigned domain, bus, slot, function;

    if (sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) == 4)
        reading_pci(device, domain, bus, slot, function);
}

/* ---------------------------------------------------------------- devices */

static void read_number(struct reading *reading, const struct reading_number *row,
                        struct accelerator *device)
{
    void *get = reading_function(reading, row->function);
    uint32_t first = row->type, second = row->second_type, small = 0;
    uint64_t number = 0;
    int result = READING_NO_FUNCTION;

    switch (get ? row->form : FORM_U32) {
    case FORM_U32:
        if (get)
            result = READING_CALL_DEVICE(reading, get, (uint32_t *), &small);
        number = small;
        break;
    case FORM_U64:
        result = READING_CALL_DEVICE(reading, get, (uint64_t *), &number);
        break;
    case FORM_TYPE_U32:
        result = READING_CALL_DEVICE(reading, get, (uint32_t, uint32_t *), first, &small);
        number = small;
        break;
    case FORM_TYPE_U64:
        result = READING_CALL_DEVICE(reading, get, (uint32_t, uint64_t *), first, &number);
        break;
    case FORM_TYPES_U64:
        result = READING_CALL_DEVICE(reading, get, (uint32_t, uint32_t, uint64_t *), first, second,
                                     &number);
        break;
    }
    reading_take(reading, device, row->id, result,
                 (long long)number / (row->divisor ? row->divisor : 1));
}

static int count_devices(struct reading *reading, unsigned *count)
{
    const struct accelerator_reader *reader = reading->reader;

    return reader->count ? reader->count(reading, count)
                         : READING_CALL(reading, reader->count_function, (unsigned *), count);
}

static int open_device(struct reading *reading, unsigned index)
{
    const struct accelerator_reader *reader = reading->reader;

    reading->index = index;
    if (reader->open_function)
        return READING_CALL(reading, reader->open_function, (unsigned, void **), index,
                            &reading->handle);
    return reader->open ? reader->open(reading, index) : 0;
}

static void read_device(struct reading *reading, unsigned index, struct accelerator *device)
{
    const struct accelerator_reader *reader = reading->reader;
    int result = open_device(reading, index);

    if (result != 0) {
        struct reading_status status = status_of(reading, result);

        device->error = result;
        device->state = status.state != ACCELERATOR_OK          ? status.state
                        : status.answer == ANSWER_NO_PERMISSION ? ACCELERATOR_HIDDEN
                                                                : ACCELERATOR_UNREADABLE;
        return;
    }
    reader->identify(reading, device);
    /* every call for a lost device fails, and may take long to do so */
    for (const struct reading_number *row = reader->numbers;
         row->function && device->state != ACCELERATOR_LOST; row++) {
        enum accelerator_answer answer = device->values[row->id].answer;

        if (answer == ANSWER_NOT_ASKED || answer == ANSWER_NO_FUNCTION)
            read_number(reading, row, device);
    }
    for (reading_part_fn *const *part = reader->parts; *part && device->state != ACCELERATOR_LOST;
         part++)
        (*part)(reading, device);
}

int reading_run(struct reading *reading)
{
    unsigned count = 0;
    int result;

    if (reading->reader->start(reading) != 0)
        return -1;
    result = count_devices(reading, &count);
    if (result != 0)
        return reading_end(reading, OUTCOME_ERROR, "%s returned %d", *reading->function, result);
    if (count > ACCELERATOR_MAX)
        count = ACCELERATOR_MAX;
    for (unsigned i = 0; i < count; i++) {
        *reading->device = (int)i;
        reading->report->count = i + 1;
        read_device(reading, i, &reading->report->accelerators[i]);
    }
    *reading->device = -1;
    if (reading->reader->finish)
        reading->reader->finish(reading);
    return 0;
}
