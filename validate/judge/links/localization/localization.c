/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/judge/links/localization/localization.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/constants/judge_constants.h"
#include "validate/judge/links/localization/confirm.h"
#include "validate/judge/links/localization/doubts.h"
#include "validate/schedule/apart.h"

enum {
    SUSPECTS_MAX = 4096,
    PATH_AGAIN = 2, /* only the second time its ends are asked with others as well */
    HOST_AGAIN = 2  /* all rails of a pair are measured at once a single time in a look */
};

static struct links_limits limits_of(const struct conf *conf)
{
    return (struct links_limits){.nominal_percent = conf->link_nominal_percent,
                                 .peers_percent = conf->link_peers_percent,
                                 .latency_peers_ratio = conf->latency_peers_ratio};
}

/* Where no partner is above suspicion, as of two nodes there is none: the suspects with each other
 * and with whoever else there is. */
static size_t all_pairs(const struct links *links, const struct finding *findings,
                        size_t finding_count, struct link_pair *pairs, size_t most)
{
    size_t count = 0;

    for (size_t i = 0; i < finding_count; i++) {
        int node = findings[i].node;

        if (findings[i].verdict <= VERDICT_WARN || node < 0)
            continue;
        for (int peer = 0; peer < (int)links->node_count && count < most; peer++) {
            struct link_pair pair = {node < peer ? node : peer, node < peer ? peer : node};
            bool is_double = peer == node || (findings[i].peer >= 0 && findings[i].peer != peer);

            for (size_t k = 0; k < count && !is_double; k++)
                is_double = pairs[k].from == pair.from && pairs[k].to == pair.to;
            if (!is_double)
                pairs[count++] = pair;
        }
    }
    return count;
}

/* Which round each pair is measured in. A few have one each: nothing is quieter. Returns how many
 * rounds, or -1 when memory is out. */
static int choose_rounds(const struct links *links, const struct link_pair *pairs, size_t count,
                         int *rounds)
{
    int ends[SUSPECTS_MAX][2];

    for (size_t i = 0; i < count; i++) {
        ends[i][0] = pairs[i].from;
        ends[i][1] = pairs[i].to;
    }
    return schedule_apart((const int(*)[2])ends, count, (int)links->node_count,
                          count > RETEST_SERIAL_MOST ? links->blocks : NULL, rounds);
}

/* "n1:n2+n3:n4,n1:n3": pairs of a round, then the next one's. malloc'd; NULL: memory is out. names:
 * room for the nodes of them. */
static char *write_pairs(const struct links *links, const struct link_pair *pairs, size_t count,
                         struct hostlist *names)
{
    int rounds[SUSPECTS_MAX], round_count = choose_rounds(links, pairs, count, rounds);
    bool *is_named = calloc(links->node_count + 1, sizeof *is_named);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = round_count > 0 && is_named ? open_memstream(&text, &size) : NULL;

    for (int round = 0; stream && round < round_count; round++) {
        const char *before = round > 0 ? "," : "";

        for (size_t i = 0; i < count; i++) {
            int ends[] = {pairs[i].from, pairs[i].to};

            if (rounds[i] != round)
                continue;
            fprintf(stream, "%s%s:%s", before, links->nodes[ends[0]], links->nodes[ends[1]]);
            before = "+";
            for (int k = 0; k < 2; k++)
                if (!is_named[ends[k]]) {
                    is_named[ends[k]] = true;
                    hostlist_append(names, links->nodes[ends[k]]);
                }
        }
    }
    if (stream)
        fclose(stream);
    free(is_named);
    return text;
}

bool localization_measure(const struct localization *localization, const struct finding *findings,
                          size_t finding_count, enum retest_passes passes, size_t *first)
{
    const struct links *links = &localization->links;
    struct link_pair pairs[SUSPECTS_MAX];
    size_t count = links_suspect_pairs(links, findings, finding_count, pairs, SUSPECTS_MAX);
    struct hostlist names = {0};
    bool is_measured = false;
    char *text;

    if (count == 0)
        count = all_pairs(links, findings, finding_count, pairs, SUSPECTS_MAX);
    for (size_t i = 0; i < finding_count && passes == PASSES_PAIRS; i++)
        if (findings[i].kind == FINDING_HOST && findings[i].verdict > VERDICT_WARN)
            passes = PASSES_TOGETHER;
    text = write_pairs(links, pairs, count, &names);
    if (text)
        is_measured = localization->measure(localization->context, &names, text, passes, first);
    free(text);
    hostlist_clear(&names);
    return is_measured;
}

bool localization_measure_nodes(const struct localization *localization, const bool *is_suspect,
                                enum retest_passes passes, size_t *first)
{
    struct finding *suspects = calloc(localization->links.node_count + 1, sizeof *suspects);
    bool is_measured;
    size_t count = 0;

    for (size_t node = 0; node < localization->links.node_count && suspects; node++)
        if (is_suspect[node])
            suspects[count++] = (struct finding){.kind = FINDING_RAIL,
                                                 .verdict = VERDICT_FAIL,
                                                 .node = (int)node,
                                                 .peer = -1,
                                                 .rail = -1,
                                                 .block = -1,
                                                 .peer_block = -1};
    is_measured = count > 0 && localization_measure(localization, suspects, count, passes, first);
    free(suspects);
    return is_measured;
}

static bool is_alike(const struct localization *localization, double a, double b)
{
    return fabs(a - b) <= fmax(localization->steady_percent / 100 * fmax(a, b), RETEST_STEADY_MBPS);
}

/* What another measurement of single pairs can say nothing of. */
static bool needs_no_proof(const struct finding *finding)
{
    return finding->kind == FINDING_LIAR || finding->kind == FINDING_MISPLACED;
}

/* The place of the localization's rail among those that were measured alone: the suspects need not
 * have all of them. -1: it was not. */
static int rail_alone(const struct localization *localization, const struct links *alone, int rail)
{
    int place = rail < 0 ? -1 : (int)alone->rail_count - 1;

    while (place >= 0 && strcmp(alone->rails[place], localization->links.rails[rail]) != 0)
        place--;
    return place;
}

static bool rail_is_alike(const struct localization *localization, const struct links *alone,
                          int node, int rail)
{
    int place = rail_alone(localization, alone, rail);

    return place >= 0 &&
           is_alike(
               localization, links_figure(alone, node, place),
               localization->figures[(size_t)node * localization->links.rail_count + (size_t)rail]);
}

/* Those of the node's rails of which anything was measured. */
static bool rails_are_alike(const struct localization *localization, const struct links *alone,
                            int node)
{
    bool are_alike = true;

    for (size_t k = 0; k < localization->links.rail_count && are_alike; k++)
        are_alike =
            isnan(localization->figures[(size_t)node * localization->links.rail_count + k]) ||
            rail_is_alike(localization, alone, node, (int)k);
    return are_alike;
}

static bool is_few(const struct localization *localization)
{
    return localization->links.node_count <= LINKS_FEW;
}

/* In how many looks all rails of the node were measured at once. */
static int looks_together(const struct localization *localization, int node)
{
    int looks = 0;

    for (size_t i = 0; i < localization->links.together_count; i++) {
        const struct link_sample *sample = &localization->links.together[i];

        if ((sample->from == node || sample->to == node) && sample->again > looks)
            looks = sample->again;
    }
    return looks;
}

/* Whether most of what was measured alone on the rail is low as well. */
static bool is_low_alone(const struct links *alone, int rail, const struct finding *finding)
{
    size_t low = 0, all = 0;

    for (size_t i = 0; i < alone->sample_count; i++)
        if (alone->samples[i].rail == rail && !isnan(alone->samples[i].mbps)) {
            low += alone->samples[i].mbps < finding->limit;
            all++;
        }
    return 2 * low > all;
}

/* Whether the last measurement alone says of the suspect what all say together. */
static bool is_steady(const struct localization *localization, const struct matrix *matrix,
                      const struct links *alone, const struct finding *finding)
{
    int rail = rail_alone(localization, alone, finding->rail);

    if (finding->kind == FINDING_FABRIC)
        return is_low_alone(alone, rail, finding);
    if (finding->again == 0)
        return false; /* nobody asked about that one */
    if (finding->kind == FINDING_PAIR && is_few(localization) && finding->again < PATH_AGAIN)
        return false;
    if (finding->kind == FINDING_HOST && looks_together(localization, finding->node) < HOST_AGAIN)
        return false;
    if (finding->is_intermittent || strcmp(finding->metric, "bandwidth") != 0)
        return true; /* what comes and goes is not the same twice */
    if (finding->kind == FINDING_RAIL)
        return rail_is_alike(localization, alone, finding->node, finding->rail);
    if (finding->kind == FINDING_PAIR)
        return is_alike(localization, matrix_pair_mbps(matrix, finding->node, finding->peer, rail),
                        finding->value);
    return finding->kind != FINDING_NODE || rails_are_alike(localization, alone, finding->node);
}

/* Whether the machines let the processes run each time that the suspect was measured alone. */
static bool was_quiet(const struct localization *localization, const struct finding *finding)
{
    bool is_quiet = finding->again > 0;

    for (size_t i = 0; i < localization->links.sample_count; i++) {
        const struct link_sample *sample = &localization->links.samples[i];
        int ends[] = {sample->from, sample->to};

        for (int k = 0; k < 2; k++)
            if (sample->again > 0 && ends[k] == finding->node &&
                (finding->peer < 0 || ends[1 - k] == finding->peer) &&
                (finding->rail < 0 || sample->rail == finding->rail))
                is_quiet = is_quiet && sample->stalled < LINKS_QUIET;
    }
    return is_quiet;
}

/* What was low each time, but never alike, accuses nobody where the machines were busy. Where they
 * were not it comes and goes. */
static void doubt(const struct localization *localization, struct finding *finding)
{
    size_t length = strlen(finding->message);

    if (localization->is_confirmed && finding->node >= 0 && was_quiet(localization, finding)) {
        finding->is_intermittent = true;
        snprintf(finding->message + length, sizeof finding->message - length,
                 "; it comes and goes");
        return;
    }
    finding->verdict = VERDICT_UNKNOWN;
    snprintf(finding->message + length, sizeof finding->message - length,
             "; not steady, is the machine busy?");
}

/* Whether it may be a node's failure as it stands; another look may say more. */
static bool is_confirmed(const struct confirm *confirm, const struct finding *finding)
{
    char why[192];

    return !confirm_is_asked(finding) ||
           (confirm && confirm_holds(confirm, finding, why, sizeof why));
}

/* Holds the suspects against the last measurement alone. Returns how many need another one: those
 * that it does not bear out, which are in doubt when there is no other (is_last), and those of
 * which it does not make sure. */
static size_t suspects_check(struct localization *localization, size_t last, bool is_last)
{
    struct matrix matrix;
    struct links alone = {0};
    bool is_there = matrix_build(&localization->source, last, last, &matrix) == 0;
    struct confirm *confirm = is_last ? NULL : confirm_open(localization);
    size_t open = 0;

    if (is_there)
        alone = matrix_links(&matrix);
    for (size_t i = 0; i < localization->count; i++) {
        struct finding *finding = &localization->findings[i];

        if (needs_no_proof(finding))
            continue;
        if (finding->verdict == VERDICT_UNKNOWN &&
            (finding->kind == FINDING_PAIR ||
             (finding->kind == FINDING_RAIL && is_few(localization))))
            open++;
        if (finding->verdict != VERDICT_FAIL ||
            (is_there && is_steady(localization, &matrix, &alone, finding) &&
             (is_last || is_confirmed(confirm, finding))))
            continue;
        open++;
        if (is_last)
            doubt(localization, finding);
    }
    confirm_close(confirm);
    matrix_clear(&matrix);
    return open;
}

static bool has_suspect(const struct localization *localization)
{
    for (size_t i = 0; i < localization->count; i++)
        if (localization->findings[i].verdict > VERDICT_WARN &&
            !needs_no_proof(&localization->findings[i]) &&
            !(localization->takes_missing && localization->findings[i].kind == FINDING_MISSING))
            return true;
    return false;
}

/* What earlier runs found of each rail, and what others take for the least. */
static int recall(struct localization *localization)
{
    struct links *links = &localization->links;
    size_t ends = links->node_count * links->rail_count;

    localization->history =
        localization->recall ? calloc(ends + 1, sizeof *localization->history) : NULL;
    localization->references =
        localization->refer ? calloc(ends + 1, sizeof *localization->references) : NULL;
    if ((localization->recall && !localization->history) ||
        (localization->refer && !localization->references))
        return -1;
    for (size_t end = 0; end < ends; end++) {
        const char *node = links->nodes[end / links->rail_count];
        const char *rail = links->rails[end % links->rail_count];

        if (localization->recall)
            localization->recall(localization->context, node, rail, &localization->history[end]);
        if (localization->refer)
            localization->refer(localization->context, node, rail, &localization->references[end]);
    }
    links->history = localization->history;
    links->references = localization->references;
    return 0;
}

static void clear_judgement(struct localization *localization)
{
    free(localization->findings);
    free(localization->history);
    free(localization->references);
    free(localization->figures);
    localization->findings = NULL;
    localization->history = NULL;
    localization->references = NULL;
    localization->figures = NULL;
    localization->count = 0;
}

/* Brings the matrix up to the records: those since localization.again are of suspects alone. */
static int gather(struct localization *localization)
{
    size_t count = localization->source.records->count;
    int rv = 1;

    if (localization->gathered > 0)
        rv = matrix_add(&localization->source, localization->gathered, &localization->matrix);
    if (rv == 1) {
        matrix_clear(&localization->matrix);
        rv = matrix_build(&localization->source, localization->first, localization->again,
                          &localization->matrix);
    }
    localization->gathered = count;
    return rv;
}

static int judge(struct localization *localization)
{
    struct links_limits limits = limits_of(localization->source.conf);
    int count;

    clear_judgement(localization);
    if (gather(localization) != 0)
        return -1;
    localization->links = matrix_links(&localization->matrix);
    localization->figures =
        malloc((localization->links.node_count * localization->links.rail_count + 1) *
               sizeof *localization->figures);
    if (!localization->figures || recall(localization) != 0)
        return -1;
    links_figures(&localization->links, localization->figures);
    count = links_judge(&localization->links, &limits, &localization->findings);
    localization->count = count < 0 ? 0 : (size_t)count;
    return count < 0 ? -1 : 0;
}

int localization_times(size_t nodes, bool is_quick)
{
    if (nodes <= LINKS_FEW / 2)
        return is_quick ? 3 : 4;
    return nodes <= LINKS_FEW ? 2 : 1;
}

struct retest_schedule retest_schedule(size_t nodes)
{
    return nodes <= LINKS_FEW ? (struct retest_schedule){3, 4, true}
                              : (struct retest_schedule){2, 8, false};
}

int localization_run(struct localization *localization)
{
    size_t last = SIZE_MAX;
    bool is_asked_to_the_end = false;

    localization->again = SIZE_MAX;
    localization->is_confirmed = false;
    localization->gathered = 0;
    for (int i = 0;; i++) {
        size_t next = SIZE_MAX;

        if (judge(localization) != 0)
            return -1;
        if (!has_suspect(localization) ||
            (localization->is_confirmed && suspects_check(localization, last, false) == 0))
            break;
        is_asked_to_the_end = i == localization->tries;
        if (is_asked_to_the_end ||
            !localization_measure(localization, localization->findings, localization->count,
                                  PASSES_PAIRS, &next)) {
            /* what the last one that ended well bears out stays, whatever is open besides */
            suspects_check(localization, last, true);
            if (!localization->is_confirmed)
                doubts_of_unasked(localization);
            break;
        }
        last = next;
        if (localization->again == SIZE_MAX)
            localization->again = last;
        localization->is_confirmed = true;
    }
    confirm_all(localization);
    doubts_drop(localization, is_asked_to_the_end);
    return doubts_of_paths(localization);
}

bool localization_shows_leaves(const struct localization *localization)
{
    struct links_limits limits = limits_of(localization->source.conf);

    return links_show_blocks(&localization->links, &limits);
}

void localization_clear(struct localization *localization)
{
    clear_judgement(localization);
    matrix_clear(&localization->matrix);
    localization->gathered = 0;
}

struct record localization_record(const struct localization *localization,
                                  const struct finding *finding)
{
    const char *const *nodes = localization->links.nodes;
    struct record record =
        RECORD(.test = finding->kind == FINDING_MISPLACED ? "net.topology" : "links",
               .message = finding->message, .verdict = finding->verdict,
               .confidence = finding->confidence,
               .node = finding->node >= 0 ? nodes[finding->node] : NULL,
               .peer = finding->peer >= 0 ? nodes[finding->peer] : NULL, .part = finding->part);

    if (finding->kind == FINDING_MISPLACED || finding->kind == FINDING_LIAR)
        return record;
    record.metric = finding->metric;
    record.value = finding->value;
    record.limit = finding->limit;
    record.unit = strcmp(finding->metric, "latency") == 0 ? "us" : "Mb/s";
    record.limit_source = finding->limit_source;
    return record;
}

void localization_short_message(const struct finding *finding, char *text, size_t size)
{
    bool is_speed = strcmp(finding->metric, "latency") != 0;
    bool is_one_way =
        strcmp(finding->direction, "sends") == 0 || strcmp(finding->direction, "receives") == 0;
    char latency[64] = "";

    if (finding->latency_us > 0)
        snprintf(latency, sizeof latency, ", latency %.0f us, peers %.0f us", finding->latency_us,
                 finding->latency_peers_us);
    if ((finding->kind != FINDING_RAIL && finding->kind != FINDING_NODE &&
         finding->kind != FINDING_HOST) ||
        finding->verdict != VERDICT_FAIL || isnan(finding->value))
        snprintf(text, size, "%s", finding->message);
    else if (is_speed)
        snprintf(text, size, "%.60s %s%s%.0f of %.0f Mb/s%s", finding->part,
                 is_one_way ? finding->direction : "", is_one_way ? " " : "", finding->value,
                 finding->reference, latency);
    else
        snprintf(text, size, "%.60s latency %.1f us, peers %.1f us", finding->part, finding->value,
                 finding->reference);
}
