/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/command.h"

#include "validate/report/table.h"

void command_print_verdict(FILE *stream, enum verdict verdict, bool has_colour)
{
    enum { WIDTH = sizeof "unknown" - 1 };

    fprintf(stream, "%s%-*s%s", has_colour ? table_colour(verdict) : "", WIDTH,
            verdict_name(verdict), has_colour ? "\033[0m" : "");
}
