/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/compare/facts/hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/base/memory_stream.h"

static int by_name(const void *left, const void *right)
{
    const struct identity *a = left, *b = right;

    return strcmp(a->kind, b->kind) ?: strcmp(a->part, b->part) ?: strcmp(a->value, b->value)
           ?: strcmp(a->node, b->node);
}

/* Writes "10.0.0.4 on n[1-2,4]" for the identities from first on with the same address. Returns the
 * end of these, or 0 if memory is out. */
static size_t answer_write(FILE *stream, const struct identity *identities, size_t first,
                           size_t end)
{
    struct hostlist nodes = {0};
    size_t i = first;
    char *folded;

    for (; i < end && strcmp(identities[i].value, identities[first].value) == 0; i++)
        hostlist_append(&nodes, identities[i].node);
    folded = nodes.count == i - first ? hostlist_fold(&nodes) : NULL;
    if (folded)
        fprintf(stream, "%s on %s", identities[first].value, folded);
    hostlist_clear(&nodes);
    free(folded);
    return folded ? i : 0;
}

/* Reports all addresses of a name. Returns 0, or -1 if memory is out. */
static int name_report(const struct identity *identities, size_t first, size_t end,
                       void (*each)(const char *text, void *context), void *context)
{
    char *text = NULL;
    size_t size, i = first;
    FILE *stream = memory_stream(&text, &size);

    if (!stream)
        return -1;
    fprintf(stream, "/etc/hosts differs between nodes: %s is ", identities[first].part);
    do {
        i = answer_write(stream, identities, i, end);
        fputs(i > 0 && i < end ? ", " : "", stream);
    } while (i > 0 && i < end);
    fputs("; have all nodes say the same", stream);
    if (fclose(stream) == 0 && i > 0)
        each(text, context);
    else
        i = 0;
    free(text);
    return i > 0 ? 0 : -1;
}

int hosts_differ(struct identity *identities, size_t count,
                 void (*each)(const char *text, void *context), void *context)
{
    int found = 0;

    if (count > 0)
        qsort(identities, count, sizeof *identities, by_name);
    for (size_t i = 0, end; i < count; i = end) {
        bool differs = false;

        for (end = i + 1; end < count && strcmp(identities[end].kind, identities[i].kind) == 0 &&
                          strcmp(identities[end].part, identities[i].part) == 0;
             end++)
            differs |= strcmp(identities[end].value, identities[i].value) != 0;
        if (!differs || strcmp(identities[i].kind, HOSTS_KIND) != 0)
            continue;
        if (name_report(identities, i, end, each, context) != 0)
            return -1;
        found++;
    }
    return found;
}
