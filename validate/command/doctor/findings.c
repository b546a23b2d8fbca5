/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/doctor/doctor.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
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

/* Returns the most frequent passing finding, which counts as right; of equally frequent ones the
 * first, that of the head. NULL if none passes. */
static const struct finding *usual(const struct findings *findings, const char *name)
{
    const struct finding *best = NULL;
    size_t most = 0;

    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *one = &findings->items[i];
        size_t alike = 0;

        if (one->name != name || one->verdict != VERDICT_PASS)
            continue;
        for (size_t k = 0; k < findings->count; k++)
            alike += findings->items[k].name == name &&
                     strcmp(findings->items[k].found, one->found) == 0;
        if (alike > most) {
            most = alike;
            best = one;
        }
        if (alike > findings->count / 2)
            break;
    }
    return best;
}

void doctor_compare(struct findings *findings)
{
    for (size_t i = 0; i < precondition_count; i++) {
        const struct precondition *each = &precondition_table[i];
        const struct finding *right = each->sameness ? usual(findings, each->name) : NULL;
        char expected[DOCTOR_FOUND];

        if (!right)
            continue;
        snprintf(expected, sizeof expected, "%s", right->found);
        for (size_t k = 0; k < findings->count; k++) {
            struct finding *one = &findings->items[k];
            char found[140], elsewhere[140];

            if (one->name != each->name || one->verdict != VERDICT_PASS ||
                strcmp(one->found, expected) == 0)
                continue;
            text_put(found, sizeof found, "%s", one->found);
            text_put(elsewhere, sizeof elsewhere, "%s", expected);
            text_put(one->found, sizeof one->found, "%s; elsewhere: %s", found, elsewhere);
            one->verdict = each->sameness == SAME_ON_NODES && strcmp(one->host, "head") == 0
                               ? VERDICT_WARN
                               : VERDICT_FAIL;
        }
    }
}

void doctor_print(FILE *stream, const struct findings *findings, bool has_colour)
{
    bool *is_reported = calloc(findings->count + 1, sizeof *is_reported);

    for (size_t i = 0; is_reported && i < precondition_count; i++) {
        const char *name = precondition_table[i].name;
        bool needs_cure = false;

        for (size_t k = 0; k < findings->count; k++) {
            const struct finding *one = &findings->items[k];
            struct hostlist hosts = {0};
            char *folded;

            if (one->name != name || is_reported[k])
                continue;
            for (size_t m = k; m < findings->count; m++) {
                const struct finding *other = &findings->items[m];

                if (other->name == name && other->verdict == one->verdict &&
                    strcmp(other->found, one->found) == 0) {
                    is_reported[m] = true;
                    hostlist_append(&hosts, other->host);
                }
            }
            folded = hostlist_fold(&hosts);
            command_print_verdict(stream, one->verdict, has_colour);
            fprintf(stream, "  %-13s  %s: %s\n", name, folded ? folded : one->host, one->found);
            needs_cure = needs_cure || one->verdict > VERDICT_SKIP;
            free(folded);
            hostlist_clear(&hosts);
        }
        if (needs_cure)
            fprintf(stream, "%9s%-13s  cure: %s\n", "", "", precondition_table[i].cure);
    }
    free(is_reported);
}
