/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/report/format.h"

/* Writes the records as muster certify --json does. */
int json_write(FILE *stream, const struct survey *survey)
{
    for (size_t i = 0; i < survey->count; i++)
        if (record_write(stream, SURVEY_AT(survey, i)) != 0)
            return -1;
    return 0;
}
