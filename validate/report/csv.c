/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "validate/report/format.h"

/* RFC 4180, with a heading. A text that a spreadsheet would read as a formula gets a leading
 * apostrophe (owasp.org/www-community/attacks/CSV_Injection). */
static void text_cell(FILE *stream, const char *text, const char *before)
{
    fprintf(stream, "%s\"", before);
    if (text && *text && strchr("=+-@\t\r\n|", *text))
        fputc('\'', stream);
    for (; text && *text; text++) {
        if (*text == '"')
            fputc('"', stream);
        fputc(*text, stream);
    }
    fputc('"', stream);
}

static void number_cell(FILE *stream, double number)
{
    if (isfinite(number))
        fprintf(stream, ",%.15g", number);
    else
        fputc(',', stream);
}

int csv_write(FILE *stream, const struct survey *survey)
{
    fputs("run,time,suite,test,metric,node,part,peer,value,unit,samples,low,high,limit,"
          "limit_source,verdict,message\r\n",
          stream);
    for (size_t i = 0; i < survey->count; i++) {
        const struct record *record = SURVEY_AT(survey, i);

        text_cell(stream, record->run, "");
        number_cell(stream, record->time);
        text_cell(stream, record->suite, ",");
        text_cell(stream, record->test, ",");
        text_cell(stream, record->metric, ",");
        text_cell(stream, record->node, ",");
        text_cell(stream, record->part, ",");
        text_cell(stream, record->peer, ",");
        number_cell(stream, record->value);
        text_cell(stream, record->unit, ",");
        number_cell(stream, record->samples ? record->samples : (double)NAN);
        number_cell(stream, record->low);
        number_cell(stream, record->high);
        number_cell(stream, record->limit);
        text_cell(stream, record->limit_source, ",");
        text_cell(stream, record->verdict == VERDICT_NONE ? "" : verdict_name(record->verdict),
                  ",");
        text_cell(stream, record->message, ",");
        fputs("\r\n", stream);
    }
    return fflush(stream) == 0 && !ferror(stream) ? 0 : -1;
}
