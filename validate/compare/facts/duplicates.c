/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/compare/facts/duplicates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"

static int by_value(const void *left, const void *right)
{
    const struct identity *a = left, *b = right;

    return strcmp(a->kind, b->kind) ?: strcmp(a->value, b->value) ?: strcmp(a->node, b->node)
           ?: strcmp(a->part, b->part);
}

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_own(const struct identity *identity)
{
    const char *value = identity->value;

    if (strcmp(identity->kind, "address") == 0)
        return !begins(value, "127.") && !begins(value, "169.254.") && strcmp(value, "::1") != 0;
    if (strcmp(identity->kind, "mac") == 0)
        return strspn(value, "0:") < strlen(value) && !begins(value, "00:00:5e:00:01:") &&
               !begins(value, "00:00:5e:00:02:");
    return strcmp(identity->kind, "guid") == 0 && *value;
}

int duplicates_find(struct identity *identities, size_t count, size_t node_count,
                    struct duplicate **duplicates)
{
    size_t found = 0;

    *duplicates = NULL;
    if (count > 0)
        qsort(identities, count, sizeof *identities, by_value);
    for (size_t i = 0, end; i < count; i = end) {
        size_t nodes = 1;

        for (end = i + 1; end < count && strcmp(identities[end].kind, identities[i].kind) == 0 &&
                          strcmp(identities[end].value, identities[i].value) == 0;
             end++)
            nodes += strcmp(identities[end].node, identities[end - 1].node) != 0;
        if (nodes < 2 || !is_own(&identities[i]))
            continue;
        if (!GROW(*duplicates, found)) {
            free(*duplicates);
            *duplicates = NULL;
            return -1;
        }
        (*duplicates)[found++] =
            (struct duplicate){&identities[i], end - i, nodes >= 3 && 2 * nodes > node_count};
    }
    return (int)found;
}

static const char *name_of(const char *kind)
{
    return strcmp(kind, "mac") == 0 ? "MAC" : strcmp(kind, "guid") == 0 ? "GUID" : kind;
}

void duplicate_message(const struct duplicate *duplicate, size_t holder, char *text, size_t size)
{
    const struct identity *one = &duplicate->identities[holder], *other = NULL;
    size_t others = 0;

    for (size_t i = 0; i < duplicate->count; i++) {
        const struct identity *next = &duplicate->identities[i];

        if (strcmp(next->node, one->node) == 0 || (i > 0 && strcmp(next->node, next[-1].node) == 0))
            continue;
        others++;
        if (!other)
            other = next;
    }
    if (!other)
        snprintf(text, size, "%s", "");
    else if (others > 1)
        snprintf(
            text, size,
            "%.64s has the %s %.64s, and so have %.64s (%.64s) and %zu more; give each its own",
            one->part, name_of(one->kind), one->value, other->node, other->part, others - 1);
    else
        snprintf(text, size,
                 "%.64s has the %s %.64s, and so has %.64s (%.64s); give one of them another",
                 one->part, name_of(one->kind), one->value, other->node, other->part);
}
