/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/collectives/verdict.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "validate/harness/sleeping_wait.h"

enum { TAG_WORD = 300, TAG_MISMATCHES, TAG_EVIDENCE };

/* Enough to find the rank at fault. A rank whose every case is wrong need not send all. */
enum { EVIDENCE_PER_RANK = 2000 };

void account_add(struct account *account, int collective, const struct bench *bench, int first_case,
                 int mismatches)
{
    if (bench->was_left_out) {
        account->left_out[collective]++;
        return;
    }
    if (!GROW(account->notes, (size_t)account->note_count))
        watch_fault("out of memory");
    account->notes[account->note_count++] =
        (struct case_note){collective, first_case,      bench->count,     bench->type,
                           bench->op,  bench->in_place, bench->comm->name};
    account->cases[collective]++;
    account->mismatches[collective] += mismatches;
}

void account_clear(struct account *account)
{
    free(account->notes);
}

static void describe(const struct account *account, int case_number, char *text, size_t size)
{
    const struct case_note *note = NULL;

    for (int i = 0; i < account->note_count && account->notes[i].first_case <= case_number; i++)
        note = &account->notes[i];
    if (!note)
        return;
    snprintf(text, size, "%s%s of %d %s%s%s on %s", routines[note->collective].name,
             note->in_place ? " in place" : "", note->count, value_type_name(note->type),
             routines[note->collective].reduces ? " " : "",
             routines[note->collective].reduces ? reduce_name(note->op) : "", note->comm);
}

static void report_collective(const struct account *account, int index, int mismatches)
{
    const char *name = routines[index].name;
    struct record record = RECORD(.test = "collectives.correct", .metric = "mismatches",
                                  .part = name, .unit = "count");

    if (account->cases[index] > 0) {
        record.value = mismatches;
        record.verdict = mismatches > 0 ? VERDICT_FAIL : VERDICT_PASS;
        output_report(record, "%s: %d cases, %d wrong results", name, account->cases[index],
                      mismatches);
    } else if (account->left_out[index] > 0) {
        record.verdict = VERDICT_SKIP;
        output_report(record, "%s ran no case: it does not support this layout of ranks on nodes",
                      name);
    } else {
        record.verdict = VERDICT_UNKNOWN;
        output_report(record, "%s not run: no time left", name);
    }
}

static void report_faulty_rank(const struct program *program, const struct account *account,
                               const struct faulty_rank *faulty_rank)
{
    static const char *const how[] = {"ends up with", "contributes", "passes on"};
    struct record record =
        RECORD(.test = "collectives.correct", .metric = "corrupt", .value = faulty_rank->cases,
               .unit = "count", .verdict = VERDICT_FAIL);
    const struct evidence *seen = &faulty_rank->example;
    char found[256], example[160] = "", part[32];

    describe(account, seen->case_number, example, sizeof example);
    if (faulty_rank->rank < 0) {
        snprintf(found, sizeof found, "%d wrong results, not explained by any single rank",
                 faulty_rank->cases);
    } else if (faulty_rank->rivals > 0) {
        snprintf(found, sizeof found,
                 "%d wrong results, explained by rank %d on %s or by one of %d others",
                 faulty_rank->cases, faulty_rank->rank, program->name_of[faulty_rank->rank],
                 faulty_rank->rivals);
    } else {
        snprintf(part, sizeof part, "rank %d", faulty_rank->rank);
        record.node = program->name_of[faulty_rank->rank];
        record.part = part;
        snprintf(found, sizeof found,
                 "rank %d on %s %s damaged data: this explains %d wrong results", faulty_rank->rank,
                 record.node, how[faulty_rank->sends], faulty_rank->cases);
    }
    output_report(record, "%s; for example %s: element %lld on rank %d is %lld, expected %lld",
                  found, example, (long long)seen->index, seen->observer, (long long)seen->found,
                  (long long)seen->expected);
}

int verdict_broadcast(struct program *program, int word)
{
    if (program->rank == 0)
        for (int rank = 1; rank < program->size; rank++)
            sleeping_send(&word, sizeof word, rank, TAG_WORD);
    else
        sleeping_receive(&word, sizeof word, 0, TAG_WORD);
    return word;
}

/* Collects the evidence of all ranks. Returns it on rank 0, malloc'd, *total items; NULL on the
 * others. */
static struct evidence *collect(struct program *program, const struct bench *bench, int *total)
{
    int mine =
        bench->evidence_count < EVIDENCE_PER_RANK ? bench->evidence_count : EVIDENCE_PER_RANK;
    struct evidence *all;

    if (program->rank != 0) {
        sleeping_send(bench->evidence, mine * (int)sizeof *all, 0, TAG_EVIDENCE);
        return NULL;
    }
    all = watch_allocate((size_t)program->size * EVIDENCE_PER_RANK + 1, sizeof *all);
    *total = mine;
    if (mine > 0)
        memcpy(all, bench->evidence, (size_t)mine * sizeof *all);
    for (int rank = 1; rank < program->size; rank++) {
        int bytes = sleeping_receive(all + *total, EVIDENCE_PER_RANK * (int)sizeof *all, rank,
                                     TAG_EVIDENCE);

        watch_step();
        *total += bytes / (int)sizeof *all;
    }
    return all;
}

/* Adds the mismatches of all ranks to the account on rank 0. */
static void add_up(struct program *program, struct account *account)
{
    int others[ACCOUNT_COLLECTIVES];

    if (program->rank != 0) {
        sleeping_send(account->mismatches, sizeof others, 0, TAG_MISMATCHES);
        return;
    }
    for (int rank = 1; rank < program->size; rank++) {
        sleeping_receive(others, sizeof others, rank, TAG_MISMATCHES);
        watch_step();
        for (int i = 0; i < ACCOUNT_COLLECTIVES; i++)
            account->mismatches[i] += others[i];
    }
}

bool verdict_is_clear(struct program *program, const struct bench *bench)
{
    struct faulty_rank faulty_ranks[FAULTY_RANKS];
    int total = 0, found = 0, is_clear = 1;
    struct evidence *all = collect(program, bench, &total);

    if (program->rank == 0)
        found = evidence_attribute(all, total, program->size, faulty_ranks);
    for (int i = 0; i < found; i++)
        is_clear = is_clear && faulty_ranks[i].rank >= 0 && faulty_ranks[i].rivals == 0;
    free(all);
    return verdict_broadcast(program, is_clear);
}

void verdict_report(struct program *program, const struct bench *bench, struct account *account,
                    bool is_complete)
{
    struct faulty_rank faulty_ranks[FAULTY_RANKS];
    struct evidence *all;
    int total = 0, found;

    add_up(program, account);
    all = collect(program, bench, &total);
    if (program->rank != 0)
        return;
    for (int i = 0; routines[i].name; i++)
        report_collective(account, i, account->mismatches[i]);
    found = evidence_attribute(all, total, program->size, faulty_ranks);
    for (int i = 0; i < found; i++)
        report_faulty_rank(program, account, &faulty_ranks[i]);
    if (!is_complete)
        output_report(
            RECORD(.test = "collectives.correct", .metric = "complete", .verdict = VERDICT_UNKNOWN),
            "time limit of %g s reached: %d cases ran", program->common.time_limit_s,
            account->note_count);
    free(all);
}
