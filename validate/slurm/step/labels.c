/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/step/labels.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int labels_make(const struct hostlist *nodes, struct labels *labels)
{
    *labels =
        (struct labels){.nodes = nodes, .begun = calloc(nodes->count + 1, sizeof *labels->begun)};
    return labels->begun ? 0 : -1;
}

void labels_clear(struct labels *labels)
{
    for (size_t i = 0; labels->begun && i < labels->nodes->count; i++)
        free(labels->begun[i].text);
    free(labels->begun);
    *labels = (struct labels){0};
}

/* Reads a label, "   12: ": the numbers are as wide as the greatest. Returns the task, or -1. */
static long label_read(const struct labels *labels, const char *line, const char **rest)
{
    char *end;
    unsigned long task;

    line += strspn(line, " ");
    if (!isdigit((unsigned char)*line))
        return -1;
    errno = 0;
    task = strtoul(line, &end, 10);
    if (errno || end[0] != ':' || end[1] != ' ' || task >= labels->nodes->count)
        return -1;
    *rest = end + 2;
    return (long)task;
}

static void piece_add(struct labels_begun *begun, const char *piece, size_t length)
{
    char *grown;

    if (begun->length + length > LABELS_LINE_MOST)
        length = LABELS_LINE_MOST - begun->length;
    grown = realloc(begun->text, begun->length + length + 1);
    if (!grown)
        return; /* truncated: it is no valid record then */
    memcpy(grown + begun->length, piece, length);
    begun->text = grown;
    begun->length += length;
    begun->text[begun->length] = '\0';
}

long labels_parse(struct labels *labels, const char *line, const char **text)
{
    const char *rest;
    long task = label_read(labels, line, &rest);
    struct labels_begun *begun;
    size_t length;

    *text = line;
    if (task < 0)
        return -1;
    begun = &labels->begun[task];
    length = strlen(rest);
    if (length >= LABELS_PIECE) {
        piece_add(begun, rest, length);
        *text = NULL;
        return -1;
    }
    *text = rest;
    if (begun->length > 0) {
        piece_add(begun, rest, length);
        *text = begun->text;
        begun->length = 0; /* the text stays until the next call for this task */
    }
    return task;
}

long labels_split(const struct labels *labels, const char *line, const char **text)
{
    *text = line;
    return label_read(labels, line, text);
}
