/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/setup/setup.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/memory_stream.h"

#define BEGIN "# muster setup: begin; muster setup --undo takes this block out"
#define NEW_FILE ", and this file"
#define STOOD_HERE "#- "
#define END "# muster setup: end"

/* Returns the length of the line at text, and sets *next to the next line. */
static size_t line_length(const char *text, const char **next)
{
    size_t length = strcspn(text, "\n");

    *next = text + length + (text[length] == '\n');
    return length;
}

static bool is_line(const char *text, size_t length, const char *line)
{
    return strlen(line) == length && strncmp(text, line, length) == 0;
}

char *setup_block_put(const char *text, const char *lines, const char *replaces)
{
    char *after = NULL;
    size_t size;
    FILE *stream = memory_stream(&after, &size);
    const char *at = text ? text : "", *next;
    bool is_put = false;

    if (!stream)
        return NULL;
    for (; *at; at = next) {
        size_t length = line_length(at, &next);

        if (!replaces || is_put || !is_line(at, length, replaces)) {
            fprintf(stream, "%.*s\n", (int)length, at);
            continue;
        }
        fprintf(stream, BEGIN "\n" STOOD_HERE "%s\n%s" END "\n", replaces, lines);
        is_put = true;
    }
    if (!is_put)
        fprintf(stream, BEGIN "%s\n%s" END "\n", text ? "" : NEW_FILE, lines);
    fclose(stream);
    return after;
}

int setup_block_take(const char *text, char **after, struct error *err)
{
    size_t size;
    FILE *stream = memory_stream(after, &size);
    int blocks = 0, number = 0, begin = 0;
    bool is_own = false;
    const char *next;

    if (!stream)
        return error_set(err, "out of memory for %zu bytes", strlen(text));
    for (const char *at = text; *at; at = next) {
        size_t length = line_length(at, &next);

        number++;
        if (is_line(at, length, BEGIN) || is_line(at, length, BEGIN NEW_FILE)) {
            if (begin)
                break;
            begin = number;
            blocks++;
            is_own = is_line(at, length, BEGIN NEW_FILE);
        } else if (begin && is_line(at, length, END)) {
            begin = 0;
        } else if (begin && strncmp(at, STOOD_HERE, strlen(STOOD_HERE)) == 0) {
            fprintf(stream, "%.*s\n", (int)(length - strlen(STOOD_HERE)), at + strlen(STOOD_HERE));
        } else if (!begin) {
            fwrite(at, 1, (size_t)(next - at), stream);
        }
    }
    if (fclose(stream) != 0)
        return error_set(err, "out of memory for %zu bytes", strlen(text));
    if (begin) {
        free(*after);
        *after = NULL;
        return error_set(
            err, "line %d: \"" BEGIN "\" has no \"" END "\" behind it; mend it by hand", begin);
    }
    if (is_own && !**after) {
        free(*after);
        *after = NULL;
    }
    return blocks;
}
