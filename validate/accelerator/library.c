/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/accelerator/library.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>

int reading_end(struct reading *reading, enum accelerator_outcome outcome, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reading->report->reason, sizeof reading->report->reason, format, arguments);
    va_end(arguments);
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
