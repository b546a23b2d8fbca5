/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/accelerator/accelerator.h"

static const struct {
    const char *name, *unit;
} values[] = {
#define VALUE(id, name, unit) [ACCELERATOR_##id] = {name, unit},
    ACCELERATOR_VALUES(VALUE)
#undef VALUE
};

const char *accelerator_value_name(enum accelerator_value_id id)
{
    return (unsigned)id < ACCELERATOR_VALUE_COUNT ? values[id].name : "";
}

const char *accelerator_value_unit(enum accelerator_value_id id)
{
    return (unsigned)id < ACCELERATOR_VALUE_COUNT ? values[id].unit : "";
}

long long accelerator_number(const struct accelerator *device, enum accelerator_value_id id)
{
    return device->values[id].answer == ANSWER_PRESENT ? device->values[id].number : -1;
}

const char *accelerator_slowdown(long long reasons)
{
    static const struct {
        enum accelerator_clock_reason bit;
        const char *text;
    } slowdowns[] = {
        {CLOCK_REASON_HW_THERMAL, "thermal slowdown (hardware)"},
        {CLOCK_REASON_SW_THERMAL, "thermal slowdown (driver)"},
        {CLOCK_REASON_POWER_BRAKE, "power brake requested by the power supply"},
        {CLOCK_REASON_HW_SLOWDOWN, "hardware slowdown"},
    };

    for (size_t i = 0; reasons > 0 && i < sizeof slowdowns / sizeof *slowdowns; i++)
        if (reasons & slowdowns[i].bit)
            return slowdowns[i].text;
    return NULL;
}
