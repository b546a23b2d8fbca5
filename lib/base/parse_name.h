/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PARSE_NAME_H
#define MUSTER_PARSE_NAME_H

#include <stdbool.h>
#include <string.h>

/* Defines bool FUNCTION(const char *name, TYPE *value): finds the value of an enum, from 0 and
 * below `count`, whose name_of() is name. Returns false, with *value unchanged, if there is
 * none. */
#define PARSE_NAME(function, type, name_of, count)                                                 \
    bool function(const char *name, type *value)                                                   \
    {                                                                                              \
        for (int i = 0; i < (int)(count); i++)                                                     \
            if (strcmp(name_of((type)i), name) == 0) {                                             \
                *value = (type)i;                                                                  \
                return true;                                                                       \
            }                                                                                      \
        return false;                                                                              \
    }

#endif
