/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/passes.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"

static const struct {
    const char *name, *metric;
} kinds[PASS_KINDS] = {
    [PASS_PAIRS] = {"pairs", "bandwidth"},
    [PASS_TOGETHER] = {"together", "bandwidth_together"},
    [PASS_UPLINKS] = {"uplinks", "bandwidth_uplink"},
    [PASS_BISECTION] = {"bisection", "bandwidth_bisection"},
    [PASS_VERBS] = {"verbs", "bandwidth_rc_write"}, /* of a verb: verb_metric() */
    [PASS_LOCAL] = {"local", "bandwidth_local"},
};

const char *pass_name(enum pass_kind kind)
{
    return kinds[kind].name;
}

const char *pass_metric(enum pass_kind kind)
{
    return kinds[kind].metric;
}

bool pass_is_for_all(enum pass_kind kind)
{
    return kind == PASS_UPLINKS || kind == PASS_BISECTION;
}

static int pass_of(const char *name, size_t length)
{
    for (int kind = 0; kind < PASS_KINDS; kind++)
        if (strlen(kinds[kind].name) == length && strncmp(kinds[kind].name, name, length) == 0)
            return kind;
    return -1;
}

int passes_parse(const char *text, struct passes *passes, struct error *err)
{
    static const char expected[] =
        "expected some of pairs, together, uplinks, bisection, verbs, local, each once, found";

    passes->count = 0;
    for (const char *name = text;; name++) {
        size_t length = strcspn(name, ",");
        int kind = pass_of(name, length);

        for (size_t i = 0; kind >= 0 && i < passes->count; i++)
            if ((int)passes->kinds[i] == kind)
                kind = -1;
        if (kind < 0) {
            passes->count = 0;
            return error_set(err, "%s \"%s\"", expected, text);
        }
        passes->kinds[passes->count++] = (enum pass_kind)kind;
        name += length;
        if (!*name)
            return 0;
    }
}

void blocks_clear(struct blocks *blocks)
{
    for (size_t i = 0; i < blocks->count; i++)
        free(blocks->names[i]);
    free(blocks->names);
    free(blocks->uplink_pairs);
    hostlist_clear(&blocks->nodes);
    free(blocks->numbers);
    name_index_clear(&blocks->by_name);
    *blocks = (struct blocks){0};
}

static int add_block(struct blocks *blocks, const char *name, size_t length, int uplink_pairs,
                     const struct hostlist *nodes, struct error *err)
{
    if (!GROW(blocks->names, blocks->count) || !GROW(blocks->uplink_pairs, blocks->count) ||
        !(blocks->names[blocks->count] = strndup(name, length)))
        return error_set(err, "out of memory");
    blocks->uplink_pairs[blocks->count++] = uplink_pairs;
    for (size_t i = 0; i < nodes->count; i++) {
        if (!GROW(blocks->numbers, blocks->nodes.count) ||
            hostlist_append(&blocks->nodes, nodes->names[i]) != 0)
            return error_set(err, "out of memory");
        blocks->numbers[blocks->nodes.count - 1] = (int)blocks->count - 1;
    }
    return 0;
}

/* Removes ":PAIRS" from the end of the list, and sets *pairs; without it *pairs stays. */
static int parse_pairs(char *list, int *pairs, struct error *err)
{
    char *colon = strchr(list, ':'), *rest;
    long number;

    if (!colon)
        return 0;
    number = strtol(colon + 1, &rest, 10);
    if (colon == list || *rest || number < 1 || number > INT_MAX)
        return error_set(err, "expected NODES:PAIRS, found \"%s\"", list);
    *colon = '\0';
    *pairs = (int)number;
    return 0;
}

static int parse_block(const char *text, size_t length, struct blocks *blocks, struct error *err)
{
    const char *equals = memchr(text, '=', length);
    size_t name_length = equals ? (size_t)(equals - text) : 0;
    struct hostlist found = {0};
    char *list;
    int rv, pairs = 0;

    if (!equals || name_length == 0 || name_length + 1 == length)
        return error_set(err, "expected LEAF=NODES[:PAIRS];..., found \"%.*s\"", (int)length, text);
    for (size_t i = 0; i < blocks->count; i++)
        if (strlen(blocks->names[i]) == name_length &&
            strncmp(blocks->names[i], text, name_length) == 0)
            return error_set(err, "%s is given twice", blocks->names[i]);
    list = strndup(equals + 1, length - name_length - 1);
    rv = list ? parse_pairs(list, &pairs, err) : error_set(err, "out of memory");
    if (rv == 0)
        rv = hostlist_expand(list, &found, err);
    free(list);
    if (rv == 0)
        rv = add_block(blocks, text, name_length, pairs, &found, err);
    hostlist_clear(&found);
    return rv;
}

static int index_nodes(struct blocks *blocks, struct error *err)
{
    if (hostlist_index(&blocks->nodes, &blocks->by_name) != 0)
        return error_set(err, "out of memory");
    for (size_t i = 0; i < blocks->nodes.count; i++)
        if (name_index_find(&blocks->by_name, blocks->nodes.names[i]) != (long)i)
            return error_set(err, "node %s is in two blocks", blocks->nodes.names[i]);
    return 0;
}

int blocks_parse(const char *text, struct blocks *blocks, struct error *err)
{
    int rv = 0;

    *blocks = (struct blocks){0};
    for (bool is_last = false; rv == 0 && !is_last; text++) {
        size_t length = strcspn(text, ";");

        rv = parse_block(text, length, blocks, err);
        text += length;
        is_last = !*text;
    }
    if (rv == 0)
        rv = index_nodes(blocks, err);
    if (rv != 0)
        blocks_clear(blocks);
    return rv;
}

int blocks_of(const struct blocks *blocks, const char *node)
{
    long index = name_index_find(&blocks->by_name, node);

    return index < 0 ? -1 : blocks->numbers[index];
}
