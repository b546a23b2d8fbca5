/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/run/script.h"

#include <string.h>

/* Whether one of the words up to the line's end, or up to a comment, is the option. */
static bool line_has(const char *line)
{
    static const char blanks[] = " \t";

    for (;;) {
        size_t size;

        line += strspn(line, blanks);
        size = strcspn(line, " \t\n");
        if (size == 0 || *line == '#')
            return false;
        if ((size == 9 && strncmp(line, "--no-kill", size) == 0) ||
            (size == 2 && strncmp(line, "-k", size) == 0))
            return true;
        line += size;
    }
}

bool script_has_no_kill(const char *script)
{
    while (*script) {
        size_t length = strcspn(script, "\n");

        if (strncmp(script, "#SBATCH", 7) == 0) {
            if (line_has(script + 7))
                return true;
        } else if (script[strspn(script, " \t\n")] != '#' && length > 0) {
            return false;
        }
        script += length + (script[length] == '\n');
    }
    return false;
}
