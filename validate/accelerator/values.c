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
