/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/doctor/doctor.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/name_index.h"
#include "lib/base/record.h"
#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "lib/constants/command_constants.h"
#include "validate/command/jsontext.h"

void doctor_add(struct findings *findings, const char *host, const char *name, enum verdict verdict,
                const char *found)
{
    struct finding *finding;
    char *copy = strdup(host);

    if (!copy || !GROW(findings->items, findings->count)) {
        free(copy);
        findings->out_of_memory = true;
        return;
    }
    finding = &findings->items[findings->count++];
    *finding = (struct finding){.host = copy, .name = name, .verdict = verdict};
    text_put(finding->found, sizeof finding->found, "%s", found);
    utf8_clean(finding->found);
}

void doctor_clear(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        free(findings->items[i].host);
    free(findings->items);
    *findings = (struct findings){0};
}

void doctor_give(FILE *stream, const struct finding *finding)
{
    const struct precondition *precondition = precondition_find(finding->name);
    json_t *line = json_pack("{so ss ss so sf}", "host", jsontext(finding->host), "precondition",
                             finding->name, "state", verdict_name(finding->verdict), "found",
                             jsontext(finding->found), "time", record_now_s());

    if (line && finding->verdict > VERDICT_SKIP && precondition)
        json_object_set_new(line, "cure", json_string(precondition->cure));
    jsontext_print(stream, JSON_COMPACT, line);
}

int doctor_take(struct findings *findings, const char *node, const char *line, double now_s)
{
    json_t *object = json_loads(line, 0, NULL);
    const char *host = "", *name = "", *state = "", *found = "";
    const struct precondition *precondition = NULL;
    double time_s = NAN;
    int verdict = -1;

    if (object &&
        json_unpack(object, "{ss ss ss ss sF}", "host", &host, "precondition", &name, "state",
                    &state, "found", &found, "time", &time_s) == 0 &&
        strcmp(host, node) == 0) {
        precondition = precondition_find(name);
        verdict = verdict_parse(state);
    }
    if (precondition && verdict >= 0) {
        char text[DOCTOR_FOUND];
        bool is_off = !(fabs(now_s - time_s) < DOCTOR_CLOCK_S);

        doctor_add(findings, host, precondition->name, (enum verdict)verdict, found);
        if (strcmp(name, "version") == 0) { /* once per node */
            snprintf(text, sizeof text,
                     is_off ? "its clock differs from this host's by %.0f s"
                            : "its clock differs from this host's by less than a minute",
                     time_s - now_s);
            doctor_add(findings, host, "time", is_off ? VERDICT_FAIL : VERDICT_PASS, text);
        }
    }
    json_decref(object);
    return precondition && verdict >= 0 ? 0 : -1;
}

/* A finding of a precondition. */
struct row {
    struct finding *finding; /* NULL: printed */
    size_t first, alike;     /* first: index of the first with the same text, which counts them */
};

/* Returns the findings of the name; malloc'd, NULL if memory is out. */
static struct row *rows_of(const struct findings *findings, const char *name, size_t *count)
{
    struct row *rows = calloc(findings->count + 1, sizeof *rows);
    const char **texts = calloc(findings->count + 1, sizeof *texts);
    struct name_index index = {0};

    *count = 0;
    for (size_t i = 0; rows && texts && i < findings->count; i++)
        if (findings->items[i].name == name) {
            rows[*count].finding = &findings->items[i];
            texts[(*count)++] = findings->items[i].found;
        }
    if (!texts || name_index_build(texts, *count, &index) != 0) {
        free(rows);
        rows = NULL;
    }
    for (size_t i = 0; rows && i < *count; i++) {
        rows[i].first = (size_t)name_index_find(&index, texts[i]);
        rows[rows[i].first].alike++;
    }
    name_index_clear(&index);
    free(texts);
    return rows;
}

/* Returns the most frequent passing finding, which counts as right; of equally frequent ones the
 * first, that of the head. NULL if none passes. */
static const struct finding *usual(const struct row *rows, size_t count)
{
    const struct finding *best = NULL;
    size_t most = 0;

    for (size_t i = 0; i < count; i++)
        if (rows[i].finding->verdict == VERDICT_PASS && rows[rows[i].first].alike > most) {
            most = rows[rows[i].first].alike;
            best = rows[i].finding;
        }
    return best;
}

static void compare(const struct precondition *each, const struct row *rows, size_t count)
{
    const struct finding *right = usual(rows, count);
    char expected[DOCTOR_FOUND];

    if (!right)
        return;
    snprintf(expected, sizeof expected, "%s", right->found);
    for (size_t i = 0; i < count; i++) {
        struct finding *one = rows[i].finding;
        char found[140], elsewhere[140];

        if (one->verdict != VERDICT_PASS || strcmp(one->found, expected) == 0)
            continue;
        text_put(found, sizeof found, "%s", one->found);
        text_put(elsewhere, sizeof elsewhere, "%s", expected);
        text_put(one->found, sizeof one->found, "%s; elsewhere: %s", found, elsewhere);
        one->verdict = each->sameness == SAME_ON_NODES && strcmp(one->host, "head") == 0
                           ? VERDICT_WARN
                           : VERDICT_FAIL;
    }
}

void doctor_compare(struct findings *findings)
{
    for (size_t i = 0; i < precondition_count; i++)
        if (precondition_table[i].sameness) {
            size_t count;
            struct row *rows = rows_of(findings, precondition_table[i].name, &count);

            if (rows)
                compare(&precondition_table[i], rows, count);
            else
                findings->out_of_memory = true;
            free(rows);
        }
}

/* Prints the finding at `at` with the hosts of all that are the same. */
static void print_alike(FILE *stream, struct row *rows, size_t count, size_t at, bool has_colour)
{
    const struct finding *one = rows[at].finding;
    struct hostlist hosts = {0};
    char *folded;

    for (size_t i = at; i < count; i++)
        if (rows[i].first == rows[at].first && rows[i].finding &&
            rows[i].finding->verdict == one->verdict) {
            hostlist_append(&hosts, rows[i].finding->host);
            rows[i].finding = NULL;
        }
    folded = hostlist_fold(&hosts);
    command_print_verdict(stream, one->verdict, has_colour);
    fprintf(stream, "  %-13s  %s: %s\n", one->name, folded ? folded : one->host, one->found);
    free(folded);
    hostlist_clear(&hosts);
}

void doctor_print(FILE *stream, const struct findings *findings, bool has_colour)
{
    for (size_t i = 0; i < precondition_count; i++) {
        size_t count;
        struct row *rows = rows_of(findings, precondition_table[i].name, &count);
        bool needs_cure = false;

        for (size_t k = 0; rows && k < count; k++)
            if (rows[k].finding) {
                needs_cure |= rows[k].finding->verdict > VERDICT_SKIP;
                print_alike(stream, rows, count, k, has_colour);
            }
        if (needs_cure)
            fprintf(stream, "%9s%-13s  cure: %s\n", "", "", precondition_table[i].cure);
        free(rows);
    }
}
