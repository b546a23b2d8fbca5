/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validate/slurm/step.h"

enum {
    TRIES = 3,
    MARGIN_S = 10,
    SUSPECTS_MAX = 64,
    CONFIRM_TRIES = 4,
    CONFIRM_REPEATS = 15, /* the upper end of the median's interval is then the third best */
    STEADY_PERCENT = 10,  /* two measurements of a fault are as near as that, */
    STEADY_MBPS = 2,      /* or that */
};

static struct links_limits limits_of(const struct certify *certify)
{
    return (struct links_limits){.nominal_percent = certify->conf.link_nominal_percent,
                                 .peers_percent = certify->conf.link_peers_percent,
                                 .latency_peers_ratio = certify->conf.latency_peers_ratio};
}

static void links_arguments(const struct certify *certify, double limit_s, const char *pairs,
                            struct arguments *program)
{
    char path[4096];

    step_program_path("muster-links", path, sizeof path);
    arguments_add(program, "%s", path);
    arguments_add(program, "--json");
    arguments_add(program, "--time-limit=%.0f", limit_s);
    if (!certify->options.is_standard)
        arguments_add(program, "--quick");
    if (pairs) {
        arguments_add(program, "--pairs=%s", pairs);
        arguments_add(program, "--repeats=%d", CONFIRM_REPEATS);
    }
}

static int links_step(struct certify *certify, const struct hostlist *names, const char *pairs,
                      size_t *first, struct error *err)
{
    struct certify_environment environment;
    struct arguments program = {0};
    double limit_s = certify->budget_s / 2;
    int rv;

    certify_environment(certify, false, &environment);
    links_arguments(certify, limit_s, pairs, &program);
    rv = certify_step(certify,
                      &(struct certify_step){.stage = STAGE_LINKS,
                                             .nodes = names,
                                             .tasks_per_node = 1,
                                             .is_mpi = true,
                                             .program = program.argv,
                                             .environment = environment.entries,
                                             .deadline_s = limit_s + MARGIN_S},
                      first, err);
    arguments_clear(&program);
    return rv;
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

/* Measures the suspects once more, alone on the network. Returns whether that ended well, with
 * *first the index of its first record. */
static bool suspects_measure(struct certify *certify, const struct links *links,
                             const struct finding *findings, size_t finding_count, size_t *first)
{
    struct link_pair pairs[SUSPECTS_MAX];
    size_t count = links_suspect_pairs(links, findings, finding_count, pairs, SUSPECTS_MAX);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    struct hostlist names = {0};
    struct error err;
    bool is_measured = false;

    if (count == 0)
        count = all_pairs(links, findings, finding_count, pairs, SUSPECTS_MAX);
    for (size_t i = 0; stream && i < count; i++) {
        const char *ends[] = {links->nodes[pairs[i].from], links->nodes[pairs[i].to]};

        fprintf(stream, "%s%s:%s", i ? "," : "", ends[0], ends[1]);
        for (int k = 0; k < 2; k++)
            if (!hostlist_contains(&names, ends[k]))
                hostlist_append(&names, ends[k]);
    }
    if (stream)
        fclose(stream);
    if (text && count > 0) {
        progress_doing(&certify->progress, "measuring suspects again: %s", text);
        is_measured = links_step(certify, &names, text, first, &err) == 0 &&
                      certify_is_complete(certify, *first);
    }
    free(text);
    hostlist_clear(&names);
    return is_measured;
}

static bool is_alike(double a, double b)
{
    return fabs(a - b) <= fmax(STEADY_PERCENT / 100.0 * fmax(a, b), STEADY_MBPS);
}

/* Whether the last measurement alone says of each suspect what all say together: a fault repeats
 * itself, what other work on the machines takes away comes and goes. */
static bool suspects_are_steady(const struct certify *certify, const struct hostlist *names,
                                const struct links *links, const struct finding *findings,
                                size_t count, size_t last)
{
    struct matrix alone;
    struct link_sample *samples = NULL;
    struct links view;
    bool is_steady = matrix_build(certify, names, last, last, &alone) == 0;

    if (is_steady) {
        view = matrix_links(certify, &alone, &samples);
        is_steady = samples && view.rail_count == links->rail_count;
    }
    for (size_t i = 0; is_steady && i < count; i++) {
        const struct finding *finding = &findings[i];

        if (finding->verdict != VERDICT_FAIL || strcmp(finding->metric, "bandwidth") != 0)
            continue;
        if (finding->kind == FINDING_RAIL)
            is_steady = is_alike(links_figure(&view, finding->node, finding->rail),
                                 links_figure(links, finding->node, finding->rail));
        else if (finding->kind == FINDING_PAIR)
            is_steady =
                is_alike(matrix_pair_mbps(&alone, finding->node, finding->peer, finding->rail),
                         finding->value);
    }
    free(samples);
    matrix_clear(&alone);
    return is_steady;
}

/* "eth1 98 of 940 Mb/s": what a reason of a drain has room for. */
static void short_message(const struct finding *finding, char *text, size_t size)
{
    bool is_speed = strcmp(finding->metric, "bandwidth") == 0;

    if (finding->kind != FINDING_RAIL || finding->verdict != VERDICT_FAIL || isnan(finding->value))
        snprintf(text, size, "%s", finding->message);
    else if (is_speed)
        snprintf(text, size, "%.60s %.0f of %.0f Mb/s", finding->part, finding->value,
                 finding->reference);
    else
        snprintf(text, size, "%.60s %.1f us, peers %.1f us", finding->part, finding->value,
                 finding->reference);
}

static void finding_take(struct certify *certify, const struct links *links,
                         const struct finding *finding)
{
    struct subject *subject =
        finding->node >= 0 ? certify_subject(certify, links->nodes[finding->node]) : NULL;
    char text[256];
    struct record record = RECORD_INIT;

    record.suite = "certify";
    record.test = "links";
    record.metric = finding->metric;
    record.node = subject ? subject->name : NULL;
    record.peer = finding->peer >= 0 ? links->nodes[finding->peer] : NULL;
    record.part = finding->part;
    record.value = finding->value;
    record.limit = finding->limit;
    record.unit = strcmp(finding->metric, "latency") == 0 ? "us" : "Mb/s";
    record.limit_source = finding->limit_source;
    record.verdict = finding->verdict;
    record.message = finding->message;
    certify_record(certify, &record);
    switch (finding->kind) {
    case FINDING_RAIL:
    case FINDING_AMBIGUOUS:
    case FINDING_MISSING:
        short_message(finding, text, sizeof text);
        if (subject)
            outcome_note(&subject->outcome, STAGE_LINKS, finding->verdict, "links", finding->part,
                         text);
        break;
    case FINDING_FABRIC: /* slow everywhere alike: no node's, but none is what it should be */
        certify_note(certify, "%s", finding->message);
        certify->has_fault |= finding->verdict == VERDICT_FAIL;
        if (finding->verdict == VERDICT_FAIL)
            certify_all(certify,
                        &(struct hostlist){(char **)(size_t)links->nodes, links->node_count},
                        STAGE_LINKS, VERDICT_UNKNOWN, "links", finding->message);
        break;
    default: /* a path is no node's fault */
        certify_note(
            certify, "%s%s%s",
            strncmp(finding->message, finding->part, strlen(finding->part)) == 0 ? ""
                                                                                 : finding->part,
            strncmp(finding->message, finding->part, strlen(finding->part)) == 0 ? "" : ": ",
            finding->message);
        certify->has_fault |= finding->verdict == VERDICT_FAIL;
    }
}

/* The table's cell and the certificate's lines. */
static void figures_take(struct certify *certify, const struct links *links)
{
    for (size_t i = 0; i < links->node_count; i++) {
        struct subject *subject = certify_subject(certify, links->nodes[i]);
        size_t length = 0;

        for (size_t k = 0; k < links->rail_count; k++) {
            double mbps = links_figure(links, (int)i, (int)k);

            if (isnan(mbps))
                continue;
            if (isnan(subject->rail_mbps) || mbps < subject->rail_mbps)
                subject->rail_mbps = mbps;
            if (length < sizeof subject->rails)
                length += (size_t)snprintf(subject->rails + length, sizeof subject->rails - length,
                                           "links %s: %.0f Mb/s\n", links->rails[k], mbps);
        }
        if (isnan(subject->rail_mbps))
            certify_verdict(certify, subject, STAGE_LINKS, VERDICT_UNKNOWN, "links", "",
                            "no link of it was measured");
        else
            snprintf(subject->outcome.cells[STAGE_LINKS],
                     sizeof subject->outcome.cells[STAGE_LINKS], "%.0f Mb/s", subject->rail_mbps);
    }
}

/* In how many of the damaged exchanges the node took part. */
static size_t damage_of(const struct certify *certify, size_t first, const char *node)
{
    size_t count = 0;

    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = &certify->records.items[i];

        if (record->metric && strcmp(record->metric, "damaged") == 0 && record->node &&
            record->peer)
            count += strcmp(record->node, node) == 0 || strcmp(record->peer, node) == 0;
    }
    return count;
}

/* Damaged data accuses the end that has more of it; with as much on both it could be either. */
static void damage_take(struct certify *certify, size_t first, const struct record *record)
{
    const char *ends[] = {record->node, record->peer};
    size_t damage[] = {damage_of(certify, first, ends[0]), damage_of(certify, first, ends[1])};

    for (int i = 0; i < 2; i++) {
        struct subject *subject = certify_subject(certify, ends[i]);

        if (subject && damage[i] >= damage[1 - i])
            outcome_note(&subject->outcome, STAGE_LINKS,
                         damage[i] > damage[1 - i] ? VERDICT_FAIL : VERDICT_UNKNOWN, record->test,
                         record->part, record->message);
    }
}

/* What muster-links judges itself: whether a rail is there, whether it carried what was sent,
 * whole. A fall-back to another way is a fault of its own and not a slow NIC. */
static void verdicts_take(struct certify *certify, size_t first)
{
    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = &certify->records.items[i];
        struct subject *subject = record->node ? certify_subject(certify, record->node) : NULL;

        if (!subject || record->verdict < VERDICT_WARN || strcmp(record->suite, "links") != 0 ||
            matrix_is_measurement(record) || !subject->is_asked)
            continue;
        if (record->peer && strcmp(record->metric ? record->metric : "", "damaged") == 0)
            damage_take(certify, first, record);
        else
            outcome_note(&subject->outcome, STAGE_LINKS, record->verdict, record->test,
                         record->part, record->message);
    }
}

/* What could not be confirmed accuses nobody. */
static void findings_doubt(struct finding *findings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(findings[i].message);

        if (findings[i].verdict != VERDICT_FAIL)
            continue;
        findings[i].verdict = VERDICT_UNKNOWN;
        snprintf(findings[i].message + length, sizeof findings[i].message - length,
                 "; not steady, is the machine busy?");
    }
}

/* A pair whose one end is at fault on that rail says nothing of the path between. */
static bool is_explained(const struct finding *finding, const struct finding *findings,
                         size_t count)
{
    for (size_t i = 0; finding->kind == FINDING_PAIR && i < count; i++)
        if (findings[i].kind == FINDING_RAIL && findings[i].verdict >= VERDICT_UNKNOWN &&
            findings[i].rail == finding->rail &&
            (findings[i].node == finding->node || findings[i].node == finding->peer))
            return true;
    return false;
}

static bool has_suspect(const struct finding *findings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (findings[i].verdict > VERDICT_WARN)
            return true;
    return false;
}

static void judge(struct certify *certify, const struct hostlist *names, size_t first)
{
    struct links_limits limits = limits_of(certify);
    struct matrix matrix;
    struct link_sample *samples = NULL;
    struct finding *findings = NULL;
    struct links links;
    int count = -1;
    size_t last = first, again = SIZE_MAX;
    bool is_measured = false;

    for (int i = 0; matrix_build(certify, names, first, again, &matrix) == 0; i++) {
        links = matrix_links(certify, &matrix, &samples);
        count = samples ? links_judge(&links, &limits, &findings) : -1;
        if (count <= 0 || !has_suspect(findings, (size_t)count) ||
            (is_measured &&
             suspects_are_steady(certify, names, &links, findings, (size_t)count, last)))
            break;
        is_measured =
            i < CONFIRM_TRIES && suspects_measure(certify, &links, findings, (size_t)count, &last);
        if (is_measured && i == 0)
            again = last;
        if (!is_measured) {
            findings_doubt(findings, (size_t)count);
            break;
        }
        free(findings);
        free(samples);
        matrix_clear(&matrix);
        findings = NULL;
        samples = NULL;
        count = -1;
    }
    if (count < 0) {
        certify_all(certify, names, STAGE_LINKS, VERDICT_UNKNOWN, "links",
                    "no memory to judge the links");
    } else {
        verdicts_take(certify, first);
        for (int k = 0; k < count; k++)
            if (!is_explained(&findings[k], findings, (size_t)count))
                finding_take(certify, &links, &findings[k]);
        figures_take(certify, &links);
        certify_all(certify, names, STAGE_LINKS, VERDICT_PASS, NULL, "");
    }
    free(findings);
    free(samples);
    matrix_clear(&matrix);
}

void certify_links(struct certify *certify)
{
    struct hostlist names;
    size_t asked = certify_good(certify, &names), first = 0;
    struct error err = {""};
    int blameless = 0;

    if (asked > 0)
        progress_begin(&certify->progress, "links");
    for (int i = 0; i < TRIES && names.count > 0; i++) {
        int rv;

        if (names.count < 2) {
            certify_all(certify, &names, STAGE_LINKS, VERDICT_UNKNOWN, "links",
                        "links needs two good nodes");
            break;
        }
        progress_doing(&certify->progress, "%zu nodes, every pair and rail", names.count);
        rv = links_step(certify, &names, NULL, &first, &err);
        if (rv == 0 && certify_is_complete(certify, first)) {
            judge(certify, &names, first);
            break;
        }
        if (rv == 0)
            error_set(&err, "did not run to its end: %s", certify->last_error);
        /* Nobody's fault may be a moment's: one more try, and only one. */
        if (rv < 0 ||
            (certify_accused(certify, STAGE_LINKS, &names, first) == 0 && ++blameless > 1) ||
            certify_stop || i == TRIES - 1) {
            char text[256];

            snprintf(text, sizeof text, "links: %.200s", err.text);
            certify_all(certify, &names, STAGE_LINKS, VERDICT_UNKNOWN, "links", text);
            break;
        }
        hostlist_clear(&names);
        certify_good(certify, &names);
    }
    if (asked > 0)
        certify_stage_end(certify, asked);
    hostlist_clear(&names);
}
