/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "lib/catalog/catalog.h"
#include "lib/constants/preflight_constants.h"
#include "lib/slurm/slurmconf.h"
#include "validate/policy/alike.h"
#include "validate/preflight/preflight.h"
#include "validate/slurm/step/step.h"

/* A finding of muster-gpu about a node: no more than one for each part and code. */
struct finding {
    struct member *member;
    struct record record; /* its strings belong to the records */
    bool is_fault, is_common, is_reported;
};

struct findings {
    struct finding *items;
    size_t count;
};

/* ---------------------------------------------------------------- what stops a step */

/* Whether the fault stops a step. A fault that the user's environment or other jobs on the node
 * may cause does not. */
static bool stops_step(const struct member *member, enum fault_code code)
{
    static const enum fault_code own[] = {
        FAULT_GPU_RESULT_WRONG, FAULT_GPU_MEMORY_WRONG,
        FAULT_GPU_SLOW,         FAULT_GPU_MEMORY_SLOW,
        FAULT_GPU_HUNG,         FAULT_GPU_FAILED,
        FAULT_GPU_PEER_DAMAGED, FAULT_GPU_COLLECTIVE_WRONG,
    };

    if (code == FAULT_GPU_PEER_SLOW || code == FAULT_GPU_COLLECTIVE_SLOW)
        return member->slurm && slurm_gres_count(member->slurm->gres, "gpu") <= member->gpus;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (code == own[i])
            return true;
    return false;
}

static const char *part_of(const struct finding *finding)
{
    return finding->record.part ? finding->record.part : "";
}

static const char *message_of(const struct finding *finding)
{
    return finding->record.message ? finding->record.message : "";
}

/* Whether code and part are the same and, if it was not tested, the reason as well. */
static bool is_same(const struct finding *one, const struct finding *other)
{
    return record_code(&one->record) == record_code(&other->record) &&
           strcmp(part_of(one), part_of(other)) == 0 &&
           (one->record.verdict != VERDICT_SKIP || strcmp(message_of(one), message_of(other)) == 0);
}

/* Whether so many nodes have the finding that it is the fault of none. Findings are in the order of
 * their nodes. asked: nodes that were tested. */
static bool is_common(const struct findings *findings, size_t index, size_t tested)
{
    const struct finding *finding = &findings->items[index];
    const struct member *last_same = NULL, *last_kind = NULL;
    size_t same = 0, kind = 0;

    for (size_t i = index; i-- > 0;)
        if (findings->items[i].is_fault && is_same(&findings->items[i], finding))
            return findings->items[i].is_common;
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *other = &findings->items[i];

        if (!other->is_fault || record_code(&other->record) != record_code(&finding->record))
            continue;
        if (other->member != last_same && is_same(other, finding)) {
            last_same = other->member;
            same++;
        }
        if (other->member != last_kind && alike_is_same_kind(part_of(other), part_of(finding))) {
            last_kind = other->member;
            kind++;
        }
    }
    return alike_is_common(same, kind, tested);
}

static void findings_add(struct findings *findings, struct member *member,
                         const struct record *record)
{
    struct finding finding = {.member = member, .record = *record};

    for (size_t i = findings->count; i-- > 0 && findings->items[i].member == member;)
        if (is_same(&findings->items[i], &finding))
            return;
    finding.is_fault = record->verdict == VERDICT_FAIL && stops_step(member, record_code(record));
    findings->items[findings->count++] = finding;
}

/* ---------------------------------------------------------------- reports */

static bool is_reported_with(const struct finding *finding, const struct finding *first)
{
    return !finding->is_reported && !finding->is_fault && finding->is_common == first->is_common &&
           finding->record.verdict == first->record.verdict &&
           record_code(&finding->record) == record_code(&first->record) &&
           (first->record.verdict != VERDICT_SKIP || is_same(finding, first));
}

/* Adds one note for all nodes that have the same finding, with the message of the first. */
static void add_note(struct preflight *preflight, struct findings *findings, size_t index)
{
    const struct finding *first = &findings->items[index];
    const char *part = part_of(first);
    struct hostlist names = {0};
    char text[480];

    for (size_t i = index; i < findings->count; i++)
        if (is_reported_with(&findings->items[i], first)) {
            if (names.count == 0 || names.names[names.count - 1] != findings->items[i].member->name)
                hostlist_append(&names, findings->items[i].member->name);
            findings->items[i].is_reported = true;
        }
    snprintf(text, sizeof text, "%s: %s%s%s%s", hostlist_text(&names).text, part, *part ? ": " : "",
             message_of(first),
             first->is_common ? "; not counted as a fault: too many nodes have it" : "");
    hostlist_append(&preflight->notes, text);
    hostlist_clear(&names);
}

static void findings_report(struct preflight *preflight, struct findings *findings, size_t tested)
{
    for (size_t i = 0; i < findings->count; i++)
        findings->items[i].is_common =
            findings->items[i].is_fault && is_common(findings, i, tested);
    for (size_t i = 0; i < findings->count; i++) {
        struct finding *finding = &findings->items[i];

        finding->is_fault &= !finding->is_common;
        if (finding->is_fault)
            preflight_add_verdict(preflight, finding->member, VERDICT_FAIL, finding->record.code,
                                  finding->record.test, part_of(finding), message_of(finding));
    }
    for (size_t i = 0; i < findings->count; i++)
        if (!findings->items[i].is_fault && !findings->items[i].is_reported)
            add_note(preflight, findings, i);
}

/* Judges the records since first that are worse than a pass, or say what was not tested. */
static void judge(struct preflight *preflight, size_t first, size_t tested)
{
    size_t last = preflight->records.count;
    struct findings findings = {.items = calloc(last - first + 1, sizeof *findings.items)};

    for (size_t i = first; findings.items && i < last; i++) {
        const struct record *record = RECORD_AT(&preflight->records, i);
        struct member *member = record->node ? preflight_member(preflight, record->node) : NULL;

        if (record->verdict <= VERDICT_PASS)
            continue;
        if (member)
            findings_add(&findings, member, record);
        else if (!record->node && record->verdict == VERDICT_WARN && record->message)
            hostlist_append(&preflight->notes, record->message);
    }
    findings_report(preflight, &findings, tested);
    free(findings.items);
}

/* ---------------------------------------------------------------- the run */

/* Sets names to the good nodes that have so many devices. Release names. Returns their number. */
static size_t list_nodes_with(const struct preflight *preflight, long gpus, struct hostlist *names)
{
    struct hostlist good;

    *names = (struct hostlist){0};
    preflight_good(preflight, &good);
    for (size_t i = 0; i < good.count; i++)
        if (preflight_member(preflight, good.names[i])->gpus == gpus)
            hostlist_append(names, good.names[i]);
    hostlist_clear(&good);
    return names->count;
}

/* Returns the next larger number of devices that the job has on a node, or 0. */
static long next_count(const struct preflight *preflight, long gpus)
{
    long next = 0;

    for (size_t i = 0; i < preflight->names.count; i++)
        if (preflight->members[i].gpus > gpus && (next == 0 || preflight->members[i].gpus < next))
            next = preflight->members[i].gpus;
    return next;
}

static bool run(struct preflight *preflight, const struct hostlist *names, long gpus,
                double limit_s)
{
    const char *container = *preflight->conf.gpu_container ? preflight->conf.gpu_container : NULL;
    struct arguments program = {0};
    size_t first;

    step_container_begin(container, &program);
    preflight_program("muster-gpu", limit_s, &program);
    arguments_add(&program, "--quick");
    arguments_add(&program, "--skip-busy");
    if (preflight->options.level == PREFLIGHT_QUICK) /* a path takes a third of a second */
        arguments_add(&program, "--tests=compute,repeatable,memory,collectives");
    return preflight_step(preflight,
                          &(struct preflight_step){.names = names,
                                                   .gpus = gpus,
                                                   .container = container,
                                                   .limit_s = limit_s,
                                                   .program = &program},
                          &first);
}

void preflight_gpus(struct preflight *preflight)
{
    size_t first = preflight->records.count, tested = 0;

    /* a step gets the same number on each of its nodes */
    for (long gpus = next_count(preflight, 0); gpus > 0 && !preflight_stop;
         gpus = next_count(preflight, gpus)) {
        double limit_s = preflight_left_s(preflight) - PREFLIGHT_GRACE_S;
        struct hostlist names;

        if (list_nodes_with(preflight, gpus, &names) > 0) {
            if (limit_s < PREFLIGHT_GPUS_LEAST_S)
                preflight_set_unknown(preflight,
                                      "GPUs: not tested, the budget of %.0f s is used up",
                                      preflight->budget_s);
            else if (run(preflight, &names, gpus, limit_s))
                tested += names.count;
            else
                preflight_set_unknown(preflight, "GPUs: %s", preflight->reason);
        }
        hostlist_clear(&names);
    }
    judge(preflight, first, tested);
}
