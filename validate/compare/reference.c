/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/compare/reference.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/base_name.h"
#include "lib/base/grow.h"
#include "lib/base/quantity.h"
#include "lib/base/text.h"

enum { WORDS = 24, LINE = 1024 };

static const struct {
    const char *name, *units;
    bool is_measured;
} metrics[] = {
    {"links.bandwidth", "Mb/s Gb/s", true}, {"links.latency", "us", true},
    {"nccl.all_reduce", "GB/s", false},     {"rccl.all_reduce", "GB/s", false},
    {"hccl.all_reduce", "GB/s", false},     {"gpu.host_to_device", "GB/s", false},
    {"gpu.peer_to_peer", "GB/s", false},    {"host.memory", "GB/s", false},
};
enum { METRICS = sizeof metrics / sizeof *metrics };

static const char *const kinds[] = {"threshold", "expected", "measured"};

const char *reference_kind_name(enum reference_kind kind)
{
    return kinds[kind];
}

static size_t metric_place(const char *name)
{
    size_t i = 0;

    while (i < METRICS && strcmp(metrics[i].name, name) != 0)
        i++;
    return i;
}

bool reference_is_measured(const char *metric)
{
    size_t place = metric_place(metric);

    return place < METRICS && metrics[place].is_measured;
}

/* ---------------------------------------------------------------- reading */

static int set_text(char *field, size_t size, const char *key, const char *value, struct error *err)
{
    if (!*value || strlen(value) >= size)
        return error_set(err, "found %s=%.40s of %zu bytes, allowed 1 to %zu", key, value,
                         strlen(value), size - 1);
    strcpy(field, value);
    return 0;
}

static int set_number(double *field, const char *key, const char *value, struct error *err)
{
    const char *text = value;

    if (!quantity_parse_decimal(&text, field) || *text)
        return error_set(err, "found %s=%.40s, allowed a number", key, value);
    return 0;
}

static int set_metric(struct reference_line *line, const char *value, struct error *err)
{
    char allowed[256] = "";

    if (metric_place(value) < METRICS) {
        strcpy(line->metric, value);
        return 0;
    }
    for (size_t i = 0; i < METRICS; i++)
        text_join(allowed, sizeof allowed, ", ", "%s", metrics[i].name);
    return error_set(err, "found metric=%.40s, allowed %s", value, allowed);
}

static int set_kind(struct reference_line *line, const char *value, struct error *err)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i], value) == 0) {
            line->kind = (enum reference_kind)i;
            return 0;
        }
    return error_set(err, "found kind=%.40s, allowed threshold, expected, measured", value);
}

/* Parses "1", "2-", "2-8". */
static int set_nodes(struct reference_line *line, const char *value, struct error *err)
{
    char *end;
    long least = strtol(value, &end, 10), most = least;

    if (*end == '-')
        most = end[1] ? strtol(end + 1, &end, 10) : 1 << 24;
    if (end == value || (*end && strcmp(end, "-") != 0) || least < 1 || most < least ||
        most > 1 << 24)
        return error_set(err, "found nodes=%.40s, allowed 1, 2- or 2-8", value);
    line->nodes_least = (int)least;
    line->nodes_most = (int)most;
    return 0;
}

static int set_gpus(struct reference_line *line, const char *value, struct error *err)
{
    double number;

    if (set_number(&number, "gpus", value, err) != 0)
        return -1;
    if (number != (int)number || number > 1024)
        return error_set(err, "found gpus=%.40s, allowed 0 to 1024", value);
    line->gpus = (int)number;
    return 0;
}

/* Parses "2026-11". */
static int set_seen(struct reference_line *line, const char *value, struct error *err)
{
    int month = 0, length = 0;

    if (sscanf(value, "%*4[0-9]-%2d%n", &month, &length) != 1 || length != 7 || value[length] ||
        month < 1 || month > 12)
        return error_set(err, "found seen=%.40s, allowed YYYY-MM", value);
    strcpy(line->seen, value);
    return 0;
}

#define PLACE(field) offsetof(struct reference_line, field)
#define TEXT(field) PLACE(field), sizeof(((struct reference_line *)0)->field)

static const struct {
    const char *name;
    int (*set)(struct reference_line *line, const char *value, struct error *err);
    size_t place, size; /* without set: offset and size of the field; size 0: a number */
} keys[] = {
    {"metric", set_metric, 0, 0}, {"value", NULL, PLACE(value), 0},
    {"unit", NULL, TEXT(unit)},   {"kind", set_kind, 0, 0},
    {"gpu", NULL, TEXT(gpu)},     {"gpus", set_gpus, 0, 0},
    {"cpu", NULL, TEXT(cpu)},     {"nic_gbps", NULL, PLACE(nic_gbps), 0},
    {"nodes", set_nodes, 0, 0},   {"source", NULL, TEXT(source)},
    {"seen", set_seen, 0, 0},     {"note", NULL, TEXT(note)},
};
enum { KEYS = sizeof keys / sizeof *keys };

/* Sets the field of a key. seen: a bit for each key that the line has already. */
static int set_key(struct reference_line *line, const char *key, const char *value, unsigned *seen,
                   struct error *err)
{
    size_t i = 0;
    void *field;

    while (i < KEYS && strcmp(keys[i].name, key) != 0)
        i++;
    if (i == KEYS)
        return error_set(err,
                         "found the key \"%.40s\", allowed metric, value, unit, kind, gpu, gpus, "
                         "cpu, nic_gbps, nodes, source, seen, note",
                         key);
    if (*seen & 1u << i)
        return error_set(err, "found %s= twice, allowed once", key);
    *seen |= 1u << i;
    if (keys[i].set)
        return keys[i].set(line, value, err);
    field = (char *)line + keys[i].place;
    return keys[i].size ? set_text(field, keys[i].size, key, value, err)
                        : set_number(field, key, value, err);
}

/* Checks the fields that every line must have. */
static int check_line(const struct reference_line *line, struct error *err)
{
    const char *missing = !*line->metric       ? "metric"
                          : !(line->value > 0) ? "value above 0"
                          : !*line->unit       ? "unit"
                          : !*line->source     ? "source"
                          : !*line->seen       ? "seen"
                                               : NULL;
    const char *units, *found;

    if (missing)
        return error_set(err, "found no %s; a figure without it is no reference", missing);
    units = metrics[metric_place(line->metric)].units;
    found = strstr(units, line->unit);
    if (!found || (found > units && found[-1] != ' ') ||
        (found[strlen(line->unit)] && found[strlen(line->unit)] != ' '))
        return error_set(err, "found unit=%s, allowed for %s: %s", line->unit, line->metric, units);
    return 0;
}

/* Splits at blanks; quotes keep blanks together. */
static int read_words(char *text, struct reference_line *line, struct error *err)
{
    unsigned seen = 0;

    while (*(text += strspn(text, " \t\r"))) {
        char *key = text, *value, *out;
        size_t length = strcspn(text, "= \t\r");
        bool is_quoted = false;

        if (text[length] != '=' || length == 0)
            return error_set(err, "found \"%.40s\", allowed KEY=VALUE", text);
        text[length] = '\0';
        value = out = text = text + length + 1;
        for (; *text && (is_quoted || !strchr(" \t\r", *text)); text++) {
            if (*text == '"')
                is_quoted = !is_quoted;
            else
                *out++ = *text;
        }
        if (is_quoted)
            return error_set(err, "found a quote without its end after %s=", key);
        text += *text != '\0';
        *out = '\0';
        if (set_key(line, key, value, &seen, err) != 0)
            return -1;
    }
    if (!(seen & 1u << 3))
        return error_set(err, "found no kind, allowed threshold, expected, measured");
    return check_line(line, err);
}

static int add_line(struct reference *reference, char *text, unsigned number, struct error *err)
{
    struct reference_line *line;

    text += strspn(text, " \t\r");
    if (!*text || *text == '#')
        return 0;
    if (strlen(text) > LINE)
        return error_set(err, "found a line of %zu bytes, allowed %d", strlen(text), LINE);
    if (!GROW(reference->lines, reference->count))
        return error_set(err, "out of memory");
    line = &reference->lines[reference->count];
    *line = (struct reference_line){.gpus = -1, .line = number};
    if (read_words(text, line, err) != 0)
        return -1;
    reference->count++;
    return 0;
}

int reference_parse(const char *text, const char *name, struct reference *reference,
                    struct error *err)
{
    char *copy = strdup(text), *rest = copy, *line;
    int result = copy ? 0 : error_set(err, "%s: out of memory", name);

    *reference = (struct reference){0};
    snprintf(reference->file, sizeof reference->file, "%s", base_name(name));
    for (unsigned number = 1; result == 0 && (line = strsep(&rest, "\n")); number++)
        if (add_line(reference, line, number, err) != 0)
            result = error_prefix(err, "%s:%u", name, number);
    free(copy);
    if (result != 0)
        reference_clear(reference);
    return result;
}

void reference_clear(struct reference *reference)
{
    free(reference->lines);
    *reference = (struct reference){0};
}

/* ---------------------------------------------------------------- matching */

/* Whether text has the model as a separate word: "H100" is not in "GH100X", nor "B200" in "GB200".
 */
static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = text; (at = strcasestr(at, word)); at++) {
        bool begins = at == text || !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789",
                                            at[-1]);

        if (begins && !strchr("0123456789", at[length] ? at[length] : ' '))
            return true;
    }
    return false;
}

bool reference_applies(const struct reference_line *line, const struct reference_hardware *hardware,
                       char *why, size_t size)
{
    char text[160];

    *why = '\0';
#define HOLD(wanted, condition, ...)                                                               \
    do {                                                                                           \
        if (wanted) {                                                                              \
            snprintf(text, sizeof text, __VA_ARGS__);                                              \
            if (!(condition)) {                                                                    \
                snprintf(why, size, "not: %s", text);                                              \
                return false;                                                                      \
            }                                                                                      \
            text_join(why, size, ", ", "%s", text);                                                \
        }                                                                                          \
    } while (0)
    HOLD(*line->gpu, has_word(hardware->gpu, line->gpu), "GPU %s (here %.60s)", line->gpu,
         *hardware->gpu ? hardware->gpu : "none");
    HOLD(*line->cpu, has_word(hardware->cpu, line->cpu), "processor %s (here %.60s)", line->cpu,
         *hardware->cpu ? hardware->cpu : "unknown");
    HOLD(line->gpus >= 0, hardware->gpus == line->gpus, "%d GPUs (here %d)", line->gpus,
         hardware->gpus);
    HOLD(line->nic_gbps > 0, hardware->nic_gbps == line->nic_gbps, "rails of %g Gb/s (here %g)",
         line->nic_gbps, hardware->nic_gbps);
    HOLD(line->nodes_least > 0 && hardware->nodes > 0,
         hardware->nodes >= line->nodes_least && hardware->nodes <= line->nodes_most,
         "%d or more nodes (here %d)", line->nodes_least, hardware->nodes);
#undef HOLD
    if (!*why)
        snprintf(why, size, "any hardware");
    return true;
}

static int conditions(const struct reference_line *line)
{
    return (*line->gpu != '\0') + (*line->cpu != '\0') + (line->gpus >= 0) + (line->nic_gbps > 0) +
           (line->nodes_least > 0);
}

const struct reference_line *reference_find(const struct reference *reference, const char *metric,
                                            enum reference_kind kind,
                                            const struct reference_hardware *hardware)
{
    const struct reference_line *best = NULL;
    char why[400];

    for (size_t i = 0; i < reference->count; i++) {
        const struct reference_line *line = &reference->lines[i];

        if (strcmp(line->metric, metric) != 0 || line->kind != kind ||
            !reference_applies(line, hardware, why, sizeof why))
            continue;
        if (!best || conditions(line) > conditions(best) ||
            (conditions(line) == conditions(best) && line->value < best->value))
            best = line;
    }
    return best;
}

double reference_mbps(const struct reference_line *line)
{
    return strcmp(line->unit, "Gb/s") == 0 ? 1000 * line->value : line->value;
}
