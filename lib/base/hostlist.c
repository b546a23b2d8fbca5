/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/hostlist.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/compare.h"
#include "lib/base/deferred_error.h"
#include "lib/base/grow.h"
#include "lib/base/memory_stream.h"
#include "lib/base/text.h"

int hostlist_append(struct hostlist *list, const char *name)
{
    char *copy = strdup(name);

    if (!copy) {
        deferred_error_note();
        return -1;
    }
    if (!GROW(list->names, list->count)) {
        deferred_error_note();
        free(copy);
        return -1;
    }
    list->names[list->count++] = copy;
    return 0;
}

int hostlist_append_all(struct hostlist *list, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (hostlist_append(list, names[i]) != 0)
            return -1;
    return 0;
}

void hostlist_clear(struct hostlist *list)
{
    if (!list)
        return;
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct hostlist){0};
}

bool hostlist_contains(const struct hostlist *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->names[i], name) == 0)
            return true;
    return false;
}

int hostlist_index(const struct hostlist *list, struct name_index *index)
{
    if (name_index_build((const char *const *)list->names, list->count, index) == 0)
        return 0;
    deferred_error_note();
    return -1;
}

int hostlist_split(const struct hostlist *list, const struct hostlist *other,
                   struct hostlist *inside, struct hostlist *outside)
{
    struct name_index known;
    int rv = hostlist_index(other, &known);

    for (size_t i = 0; rv == 0 && i < list->count; i++) {
        struct hostlist *to = name_index_has(&known, list->names[i]) ? inside : outside;

        if (to)
            rv = hostlist_append(to, list->names[i]);
    }
    name_index_clear(&known);
    return rv;
}

int hostlist_unite(struct hostlist *list, const struct hostlist *more)
{
    return hostlist_split(more, list, NULL, list);
}

/* Expands text[0..length), which has no comma outside brackets, and puts prefix before each
 * name. */
static int expand_item(const char *prefix, const char *text, size_t length, struct hostlist *list,
                       struct error *err)
{
    const char *open = memchr(text, '[', length);
    const char *close, *end = text + length, *range;
    char name[256];

    if (!open) {
        if (memchr(text, ']', length))
            return error_set(err, "\"%.*s\" has a ] without a [", (int)length, text);
        if (snprintf(name, sizeof name, "%s%.*s", prefix, (int)length, text) >= (int)sizeof name)
            return error_set(err, "the name \"%.40s...\" is longer than %zu characters", name,
                             sizeof name - 1);
        if (list->count >= HOSTLIST_MAX)
            return error_set(err, "more than %d names in one list", HOSTLIST_MAX);
        return hostlist_append(list, name) == 0 ? 0 : error_set(err, "out of memory");
    }
    if (memchr(text, ']', (size_t)(open - text)))
        return error_set(err, "\"%.*s\" has a ] without a [", (int)length, text);
    close = memchr(open, ']', (size_t)(end - open));
    if (!close)
        return error_set(err, "\"%.*s\" has a [ without a ]", (int)length, text);
    for (range = open + 1; range <= close;) {
        char *after;
        unsigned long first, last;
        int width, used;

        if (!isdigit((unsigned char)*range))
            return error_set(err, "\"%.*s\": expected a number in the brackets, found \"%c\"",
                             (int)length, text, *range);
        first = last = strtoul(range, &after, 10);
        width = (int)(after - range);
        if (*after == '-') {
            range = after + 1;
            if (!isdigit((unsigned char)*range))
                return error_set(err, "\"%.*s\": expected a number after the -", (int)length, text);
            last = strtoul(range, &after, 10);
        }
        if (after > close || (*after != ',' && *after != ']'))
            return error_set(err, "\"%.*s\": expected , or ] after a number", (int)length, text);
        if (last < first || width > 18)
            return error_set(err, "\"%.*s\": the range %lu-%lu is reversed or too long",
                             (int)length, text, first, last);
        if (last - first >= HOSTLIST_MAX)
            return error_set(err, "more than %d names in one list", HOSTLIST_MAX);
        for (unsigned long number = first; number <= last; number++) {
            used = snprintf(name, sizeof name, "%s%.*s%0*lu", prefix, (int)(open - text), text,
                            width, number);
            if (used >= (int)sizeof name)
                return error_set(err, "the name \"%.40s...\" is longer than %zu characters", name,
                                 sizeof name - 1);
            if (expand_item(name, close + 1, (size_t)(end - close - 1), list, err) != 0)
                return -1;
        }
        range = after + 1;
    }
    return 0;
}

int hostlist_expand(const char *text, struct hostlist *list, struct error *err)
{
    *list = (struct hostlist){0};
    while (*text) {
        const char *end = text;
        int depth = 0;

        for (; *end && (*end != ',' || depth > 0); end++)
            depth += *end == '[' ? 1 : *end == ']' ? -1 : 0;
        if (end == text)
            error_set(err, "an empty name before \"%.20s\"", text);
        if (end == text || expand_item("", text, (size_t)(end - text), list, err) != 0) {
            hostlist_clear(list);
            return -1;
        }
        text = *end ? end + 1 : end;
    }
    return 0;
}

/* A name as prefix, number, width of the number and suffix. A name without a number has width 0 and
 * consists of the prefix only. */
struct numbered {
    const char *name, *suffix;
    size_t prefix_length;
    unsigned long number;
    int width;
};

/* Returns the length of the part of the name whose last number is folded: the host's label of a
 * fully qualified name; else the whole name, also of interfaces (eth1.100) and addresses. */
static size_t label_length(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot && dot[1 + strspn(dot + 1, "0123456789")] ? strcspn(name, ".") : strlen(name);
}

static struct numbered numbered(const char *name, bool has_suffix)
{
    size_t end = has_suffix ? label_length(name) : strlen(name), digits = 0;

    while (has_suffix && end > 0 && !isdigit((unsigned char)name[end - 1]))
        end--;
    while (digits < end && digits < 18 && isdigit((unsigned char)name[end - digits - 1]))
        digits++;
    if (digits == 0)
        end = strlen(name);
    return (struct numbered){.name = name,
                             .suffix = name + end,
                             .prefix_length = end - digits,
                             .number = digits > 0 ? strtoul(name + end - digits, NULL, 10) : 0,
                             .width = (int)digits};
}

/* Returns whether b can follow a within one pair of brackets: if one of the numbers begins with a
 * zero, both must have the same width. */
static int is_same_series(const struct numbered *a, const struct numbered *b)
{
    int padded = a->name[a->prefix_length] == '0' || b->name[b->prefix_length] == '0';

    return a->width > 0 && b->width > 0 && (a->width == b->width || !padded) &&
           a->prefix_length == b->prefix_length &&
           memcmp(a->name, b->name, a->prefix_length) == 0 && strcmp(a->suffix, b->suffix) == 0;
}

static int compare(const void *left, const void *right)
{
    const struct numbered *a = left, *b = right;
    size_t shorter = a->prefix_length < b->prefix_length ? a->prefix_length : b->prefix_length;

    return memcmp(a->name, b->name, shorter) ?: COMPARE(a->prefix_length, b->prefix_length)
           ?: strcmp(a->suffix, b->suffix) ?: COMPARE(a->number, b->number) ?: a->width - b->width;
}

static char *fold(const struct hostlist *list, bool has_suffix)
{
    struct numbered *items = calloc(list->count + 1, sizeof *items);
    char *text = NULL;
    size_t size;
    FILE *stream = memory_stream(&text, &size);

    if (!items || !stream) {
        free(items);
        if (stream)
            fclose(stream);
        free(text);
        return NULL;
    }
    for (size_t i = 0; i < list->count; i++)
        items[i] = numbered(list->names[i], has_suffix);
    qsort(items, list->count, sizeof *items, compare);
    for (size_t i = 0; i < list->count;) {
        size_t end = i + 1; /* end of the series */
        const char *comma = "";

        while (end < list->count && (is_same_series(&items[end - 1], &items[end]) ||
                                     strcmp(items[end - 1].name, items[end].name) == 0))
            end++;
        if (i > 0)
            fputc(',', stream);
        if (items[i].width == 0 || items[end - 1].number == items[i].number) {
            fputs(items[i].name, stream);
            i = end;
            continue;
        }
        fprintf(stream, "%.*s[", (int)items[i].prefix_length, items[i].name);
        while (i < end) {
            size_t last = i;

            while (last + 1 < end && items[last + 1].number <= items[last].number + 1)
                last++;
            fprintf(stream, "%s%0*lu", comma, items[i].width, items[i].number);
            if (items[last].number > items[i].number)
                fprintf(stream, "-%0*lu", items[last].width, items[last].number);
            comma = ",";
            i = last + 1;
        }
        fprintf(stream, "]%s", items[end - 1].suffix);
    }
    free(items);
    fclose(stream);
    return text;
}

char *hostlist_fold(const struct hostlist *list)
{
    return fold(list, true);
}

int hostlist_expand_once(const char *text, struct hostlist *list, struct error *err)
{
    char *folded;
    int rv = hostlist_expand(text, list, err);

    if (rv != 0)
        return rv;
    folded = hostlist_fold(list);
    hostlist_clear(list);
    rv = folded ? hostlist_expand(folded, list, err) : error_set(err, "out of memory");
    free(folded);
    return rv;
}

struct hostlist_text hostlist_text(const struct hostlist *list)
{
    char *folded = hostlist_fold(list);
    struct hostlist_text text;

    if (folded)
        text_put(text.text, sizeof text.text, "%s", folded);
    else
        text_put(text.text, sizeof text.text, "%zu names", list->count);
    free(folded);
    return text;
}

char *hostlist_fold_for_slurm(const struct hostlist *list)
{
    return fold(list, false);
}
