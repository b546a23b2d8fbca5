/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/stages.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/memory_stream.h"
#include "lib/constants/certify_constants.h"
#include "validate/certify/report/run_records.h"
#include "validate/certify/settle/actions.h"
#include "validate/certify/stages/battery.h"
#include "validate/certify/stages/links/hints.h"
#include "validate/certify/stages/links/links_stage.h"
#include "validate/certify/stages/retest.h"
#include "validate/certify/state/estimate.h"
#include "validate/certify/state/rails.h"
#include "validate/certify/step/certify_step.h"
#include "validate/certify/step/peers.h"
#include "validate/certify/step/reach_nodes.h"
#include "validate/localization/localization.h"
#include "validate/slurm/step/step.h"

/* Returns the leaf switches of these nodes as muster-links takes them,
 * "leaf1=n[1-2];leaf2=n[3-4]:2"; malloc'd. NULL: not known, or only one. uplink_pairs: [leaf] or
 * NULL. */
static char *blocks_text(const struct certify *certify, const struct hostlist *names,
                         const int *uplink_pairs)
{
    const struct cluster *cluster = &certify->cluster;
    struct hostlist *leaves = calloc(cluster->leaf_count + 1, sizeof *leaves);
    char *text = NULL;
    size_t size = 0, count = 0;
    FILE *stream = memory_stream(&text, &size);

    for (size_t i = 0; leaves && i < names->count; i++) {
        int leaf = certify_node_run(certify, names->names[i])->slurm->leaf;

        if (leaf >= 0)
            hostlist_append(&leaves[leaf], names->names[i]);
    }
    for (size_t leaf = 0; leaves && leaf < cluster->leaf_count; leaf++) {
        char *folded = leaves[leaf].count > 0 ? hostlist_fold(&leaves[leaf]) : NULL;

        if (folded && stream)
            fprintf(stream, "%s%s=%s", count++ ? ";" : "", cluster->leaves[leaf], folded);
        if (folded && stream && uplink_pairs && uplink_pairs[leaf] > 0)
            fprintf(stream, ":%d", uplink_pairs[leaf]);
        free(folded);
        hostlist_clear(&leaves[leaf]);
    }
    if (stream && fclose(stream) != 0)
        count = 0;
    free(leaves);
    if (count > 1)
        return text;
    free(text);
    return NULL;
}

/* Adds the site's limits on pairs that run at once; the limits of uplinks are set with the leaves.
 */
static void concurrency_add(const struct conf *conf, struct arguments *program)
{
    if (conf->concurrency > 0)
        arguments_add(program, "--concurrency=%d", conf->concurrency);
    if (conf->leaf_concurrency > 0)
        arguments_add(program, "--leaf-concurrency=%d", conf->leaf_concurrency);
}

/* Adds the verbs to measure. Datagrams may be lost if a receiver is kept waiting, so they are
 * measured only at level full, which has the time to see that. */
static void verbs_add(enum certify_level level, struct arguments *program)
{
    if (level != LEVEL_FULL)
        arguments_add(program, "--verbs=%s", level == LEVEL_QUICK ? "write" : "write,read,send");
}

/* Adds the passes: all pairs in turn; all rails of a pair at once; all nodes of an uplink, and of a
 * half, at once; and RDMA ports through libibverbs. */
static void passes_add(const struct certify *certify, bool is_limited, bool has_blocks,
                       bool has_rdma, struct arguments *program)
{
    enum certify_level level = certify->options.level;
    bool is_for_all = level == LEVEL_FULL && !is_limited;

    arguments_add(program, "--passes=pairs,together%s%s%s",
                  is_for_all && has_blocks ? ",uplinks" : "", is_for_all ? ",bisection" : "",
                  has_rdma ? ",verbs" : "");
    if (has_rdma)
        verbs_add(level, program);
}

/* A retest of suspects. */
struct retry {
    struct retest_schedule schedule;
    const char *pairs;
    enum retest_passes passes;
    bool keeps_order; /* of the nodes, the first of which reports for all */
};

/* retry NULL: the first measurement, of all nodes. */
static void links_arguments(const struct certify *certify, const struct hostlist *names,
                            double limit_s, const struct retry *retry, struct arguments *program)
{
    int *uplink_pairs = retry ? NULL : certify_uplink_pairs(certify, names);
    char *blocks = retry ? NULL : blocks_text(certify, names, uplink_pairs);

    certify_program(certify, "muster-links", limit_s, program);
    if (certify->options.level != LEVEL_QUICK && retry && retry->schedule.is_quick)
        arguments_add(program, "--quick");
    if (retry) {
        arguments_add(program, "--pairs=%s", retry->pairs);
        arguments_add(program, "--times=%d", retry->schedule.times);
        arguments_add(program, "--repeats=%d", retry->schedule.samples);
        if (retry->passes != PASSES_PAIRS)
            arguments_add(program, "--passes=%s",
                          retry->passes == PASSES_VERBS ? "verbs" : "pairs,together");
        if (retry->passes == PASSES_VERBS)
            verbs_add(certify->options.level, program);
    } else {
        double confidence = budget_confidence(certify->options.level, names->count);
        /* with any limit nothing is measured by all at once */
        bool is_limited = certify->conf.concurrency > 0 || certify->conf.leaf_concurrency > 0 ||
                          certify->conf.uplink_concurrency > 0 || uplink_pairs;

        arguments_add(program, "--times=%d", certify_link_times(certify, names->count));
        if (confidence > 0)
            arguments_add(program, "--confidence=%.15g", confidence);
        passes_add(certify, is_limited, blocks != NULL, certify_has_verbs(certify, names), program);
    }
    concurrency_add(&certify->conf, program);
    if (blocks)
        arguments_add(program, "--blocks=%s", blocks);
    free(blocks);
    free(uplink_pairs);
}

static bool is_rounds(const struct record *record)
{
    return catalog_is_metric(record->metric, METRIC_ROUNDS) && record->part;
}

/* Returns whether the end of each pass that program requested was reported since first. A run that
 * lost its first node, or its last output, has measured less than it seems: a missing measurement
 * is no pass. */
static bool has_all_passes(const struct certify *certify, const struct arguments *program,
                           size_t first)
{
    static const char option[] = "--passes=";
    const char *passes = "pairs";
    char name[32];

    for (int i = 0; i < program->count; i++)
        if (strncmp(program->argv[i], option, strlen(option)) == 0)
            passes = program->argv[i] + strlen(option);

    for (size_t length; *passes; passes += length + (passes[length] == ',')) {
        bool is_reported = false;

        length = strcspn(passes, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, passes);
        for (size_t i = first; i < certify->records.count && !is_reported; i++) {
            const struct record *record = RECORD_AT(&certify->records, i);

            is_reported = is_rounds(record) && strcmp(record->part, name) == 0;
        }
        if (!is_reported)
            return false;
    }
    return true;
}

/* Runs muster-links. is_first: this is the stage's first try. *is_whole: the end of all passes was
 * reported, whether or not nodes were lost on the way. */
static int links_step(struct certify *certify, bool is_first, const struct hostlist *names,
                      const struct retry *retry, size_t *first, bool *is_whole, struct error *err)
{
    struct certify_environment environment;
    struct arguments program = {0};
    /* a retest of suspects measures pairs one after the other, some 5 s each: it ends when it is
     * done */
    double limit_s = certify_limit_s(certify, STAGE_LINKS, names->count);
    int rv;

    if (retry && certify->budget_s > 0)
        limit_s = certify->budget_s;
    certify_environment(certify, false, &environment);
    if (is_first)
        certify_environment_peers(certify, &environment);
    links_arguments(certify, names, limit_s, retry, &program);
    rv = certify_step(certify,
                      &(struct certify_step){.stage = STAGE_LINKS,
                                             .nodes = names,
                                             .tasks_per_node = 1,
                                             .is_mpi = true,
                                             .keeps_order = retry && retry->keeps_order,
                                             .program = program.argv,
                                             .environment = environment.entries,
                                             .deadline_s = limit_s + CERTIFY_MARGIN_S,
                                             .survives_loss = true},
                      first, err);
    *is_whole = rv >= 0 && has_all_passes(certify, &program, *first);
    if (rv == 0 && !*is_whole) {
        error_set(err, "muster-links ended before its last pass: %s",
                  error_line_text(&certify->error_line));
        rv = 1;
    }
    arguments_clear(&program);
    return rv;
}

/* Returns whether the run completed on the nodes that were not lost: there were rounds of pairs,
 * and no record without a node is unknown, except for the number of rounds. *pairs: the index of
 * the record of the pairs' rounds. */
static bool rest_is_complete(const struct certify *certify, size_t first, size_t *pairs)
{
    bool is_complete = false;

    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);

        if (!record->node && record->verdict >= VERDICT_UNKNOWN && !is_rounds(record))
            return false;
        if (!is_rounds(record) || strcmp(record->part, "pairs") != 0)
            continue;
        is_complete = record->value > 0;
        *pairs = i;
    }
    return is_complete;
}

/* Notes the passes that the time limit cut: what they did not measure is no node's fault. */
static void cut_passes_note(struct certify *certify, size_t first)
{
    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);

        if (is_rounds(record) && record->verdict == VERDICT_UNKNOWN)
            certify_note(certify, "links, %s: %s", record->part, text_of(record->message));
    }
}

/* Makes suspects of the nodes whose process died or hung, by the records of the watch, and removes
 * them from names; what the others measured counts. Returns how many are left. */
static size_t lost_remove(struct certify *certify, size_t first, struct hostlist *names)
{
    struct hostlist left = {0};

    certify_suspect(certify, first);
    for (size_t i = 0; i < names->count; i++) {
        const struct node_run *node_run = certify_node_run(certify, names->names[i]);

        if (!node_run->is_suspect && outcome_is_good(&node_run->outcome))
            hostlist_append(&left, names->names[i]);
    }
    hostlist_clear(names);
    *names = left;
    return left.count;
}

/* What the retests need. */
struct retest_context {
    struct certify *certify;
    struct hints *hints;
    size_t nodes;
};

static bool is_lost(void *context, const char *node)
{
    const struct node_run *node_run =
        certify_node_run(((struct retest_context *)context)->certify, node);

    return node_run->is_suspect || !outcome_is_good(&node_run->outcome);
}

static void drop_verdicts(struct records *records, size_t first)
{
    for (size_t i = first; i < records->count; i++) {
        struct record record = *RECORD_AT(records, i);

        record.verdict = VERDICT_NONE;
        (void)records_change(records, i, &record);
    }
}

/* Retests suspects, alone on the network. If MPI does not start, it is tried again, unless the
 * slurmd of a node has gone meanwhile; the verdicts of the failed try count against nobody. */
static bool suspects_measure(void *context, const struct hostlist *names, const char *pairs,
                             enum retest_passes passes, size_t *first)
{
    const struct retest_context *retest = context;
    struct certify *certify = retest->certify;
    const struct retry retry = {retest_schedule(retest->nodes), pairs, passes, false};
    struct error err;
    bool is_whole;

    for (int tries = 1;; tries++) {
        progress_doing(&certify->progress, "measuring suspects again: %s", pairs);
        if (links_step(certify, false, names, &retry, first, &is_whole, &err) == 0 &&
            certify_is_complete(certify, *first))
            return true;
        if (tries > CERTIFY_BLAMELESS_MOST || certify_stop)
            return false;
        drop_verdicts(&certify->records, *first);
        certify_reach_again(certify, names, STAGE_LINKS);
        certify_drain_silent(certify);
        for (size_t i = 0; i < names->count; i++)
            if (is_lost(context, names->names[i]))
                return false;
    }
}

static void get_history(void *context, const char *node, const char *rail,
                        struct history_figure *history)
{
    hints_recall(((struct retest_context *)context)->hints, node, rail, history);
}

static void get_reference(void *context, const char *node, const char *rail,
                          struct reference_figure *reference)
{
    hints_refer(((struct retest_context *)context)->hints, node, rail, reference);
}

/* Takes what muster-links reports about a single node. A rail whose link was lost meanwhile is not
 * certified, and does not fail: it may have been the switch. */
static void self_report_apply(void *context, const char *node, enum verdict verdict,
                              const struct record *record)
{
    struct node_run *node_run = certify_node_run(context, node);

    if (verdict == VERDICT_WARN && record->code == FAULT_LINK_LOST)
        verdict = VERDICT_UNKNOWN;
    if (node_run && node_run->is_selected && !node_run->is_suspect && !certify_is_death(record))
        outcome_note(&node_run->outcome, STAGE_LINKS,
                     certify_rails_verdict(context, node_run, record->part, verdict),
                     record_code(record), record->test, record->part, record->message);
}

static void rounds_conclude(struct certify *certify, const struct hostlist *names, size_t rounds)
{
    const struct record *record = RECORD_AT(&certify->records, rounds);
    bool is_enough = record->verdict == VERDICT_PASS;
    char text[256];

    text_put(text, sizeof text, "links: %s", text_of(record->message));
    certify_all(certify, names, STAGE_LINKS, is_enough ? VERDICT_PASS : VERDICT_UNKNOWN, FAULT_NONE,
                is_enough ? NULL : "links", is_enough ? "" : text);
}

/* Evaluates the links. rounds: the index of the record of the pairs' rounds. If these were too few
 * no node passes, but what was measured counts. */
static void judge(struct certify *certify, const struct hostlist *names, size_t first,
                  size_t rounds)
{
    int *leaves = calloc(names->count + 1, sizeof *leaves);
    struct retest_context retest = {certify, hints_open(certify, first), names->count};
    struct localization localization = {
        .source = {.records = &certify->records,
                   .conf = &certify->conf,
                   .names = names,
                   .leaves = leaves,
                   .leaf_names = (const char *const *)certify->cluster.leaves},
        .first = first,
        .tries = LINKS_CONFIRM_TRIES,
        .measure = suspects_measure,
        .is_lost = is_lost,
        .get_history = get_history,
        .get_reference = get_reference,
        .context = &retest,
    };

    for (size_t i = 0; leaves && i < names->count; i++)
        leaves[i] = certify_node_run(certify, names->names[i])->slurm->leaf;
    if (!leaves || localization_run(&localization) != 0) {
        certify_all(certify, names, STAGE_LINKS, VERDICT_UNKNOWN, FAULT_NONE, "links",
                    "out of memory, cannot evaluate the links");
    } else {
        localization_self_reports(&localization, self_report_apply, certify);
        certify_losses(certify, &localization); /* first: what is lost makes a rail slow as well */
        certify_link_findings(certify, &localization, first);
        rounds_conclude(certify, names, rounds);
    }
    localization_clear(&localization);
    hints_close(retest.hints);
    free(leaves);
}

/* Measures a suspect and its partner alone. */
static int links_pair(struct certify *certify, const struct hostlist *names, size_t *first,
                      const void *context)
{
    struct error err;
    bool is_whole;
    char pairs[300];
    int rv;

    (void)context;
    snprintf(pairs, sizeof pairs, "%s:%s", names->names[0], names->names[1]);
    rv = links_step(certify, false, names,
                    &(struct retry){retest_schedule(names->count), pairs, PASSES_PAIRS, true},
                    first, &is_whole, &err);
    return rv == 0 && !certify_is_complete(certify, *first) ? 1 : rv;
}

static void run(struct certify *certify)
{
    struct hostlist names = {0};
    size_t asked = certify_list_good(certify, &names), first = 0;
    struct certify_tries tries = {.begin = clock_s()};
    struct error err = {""};

    if (asked > 0)
        progress_begin(&certify->progress, "links");
    while (names.count > 0) {
        size_t rounds = 0;
        bool is_whole;
        int rv;

        if (names.count < 2) {
            certify_retest(certify, STAGE_LINKS, asked, links_pair, NULL, NULL);
            certify_all(certify, &names, STAGE_LINKS, VERDICT_UNKNOWN, FAULT_NONE, "links",
                        "links needs two good nodes");
            break;
        }
        progress_doing(&certify->progress, "%zu nodes, every rail", names.count);
        rv = links_step(certify, tries.made == 0, &names, NULL, &first, &is_whole, &err);
        if (is_whole && !certify_stop && rest_is_complete(certify, first, &rounds) &&
            ((rv == 0 && certify_is_complete(certify, first)) ||
             lost_remove(certify, first, &names) > 1)) {
            cut_passes_note(certify, first);
            judge(certify, &names, first, rounds);
            break;
        }
        if (!certify_once_more(certify, STAGE_LINKS, &tries, &names, first, rv, &err)) {
            char text[256];

            text_put(text, sizeof text, "links: %s", err.text);
            certify_all(certify, &names, STAGE_LINKS, VERDICT_UNKNOWN, FAULT_NONE, "links", text);
            break;
        }
    }
    certify_retest(certify, STAGE_LINKS, asked, links_pair, NULL, NULL);
    if (asked > 0)
        certify_stage_end(certify, asked);
    hostlist_clear(&names);
}

const struct certify_stage stage_links = {
    .stage = STAGE_LINKS,
    .job = JOB_BATTERY,
    .level = LEVEL_QUICK,
    .run = run,
};
