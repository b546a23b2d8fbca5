/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/spank-host/fault.h"
#include "tests/spank-host/fixture.h"
#include "tests/spank-host/host.h"
#include "tests/spank-host/life.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

/* Each allocation and each file operation of the plugin fails in turn, in a process of its own. The
 * plugin does not crash, leaves nothing behind, reports what is missing, and refuses no healthy
 * node because memory or descriptors ran out.
 *
 * A part of a life makes thousands of calls: the first and the last call of each call site fail,
 * and as many others as the budget allows. MUSTER_FAULTS=all makes each call fail. */

enum { BUDGET = 20, CALLS = FAULT_SITES };

static const char *const flavours[FAULT_FLAVOURS] = {"exhausted", "I/O error", "forbidden",
                                                     "short or interrupted"};
static const char *const kinds[FAULT_KINDS] = {"allocation", "file operation"};

static struct life_environment user, reference_tasks[LIFE_TASKS];

struct part {
    const char *name;
    void (*body)(const struct life *life);
    struct life life;
    bool needs_certificate;
    enum state certificate;
    /* Returns what is wrong with a run, or NULL. */
    const char *(*judge)(const struct outcome *outcome, enum fault_flavour flavour);
};

/* ---------------------------------------------------------------- judges */

static const char *judge_front(const struct outcome *outcome, enum fault_flavour flavour)
{
    return outcome->front < 0 ? "srun is refused" : NULL;
}

static const char *judge_epilog(const struct outcome *outcome, enum fault_flavour flavour)
{
    return outcome->epilog < 0 ? "the epilog fails" : NULL;
}

/* Whether the fault is one of the node: with an I/O error or EACCES in /sys or /proc the node looks
 * different. */
static bool is_of_the_node(enum fault_flavour flavour)
{
    return (flavour == FAULT_BROKEN || flavour == FAULT_FORBIDDEN) &&
           (strstr(fault_first_failed(), "/sys/") != NULL ||
            strstr(fault_first_failed(), "/proc/") != NULL);
}

static const char *judge_step(const struct outcome *outcome, enum fault_flavour flavour)
{
    if (is_of_the_node(flavour) && strncmp(fault_first_failed(), "opendir", 7) != 0)
        return NULL;
    for (int i = 0; i < outcome->task_count; i++)
        if ((outcome->tasks[i].length != reference_tasks[i].length ||
             memcmp(outcome->tasks[i].text, reference_tasks[i].text, reference_tasks[i].length) !=
                 0) &&
            strstr(host_log, "error: muster: ") == NULL)
            return "a task has another environment without a word";
    return NULL;
}

static const char *judge_valid(const struct outcome *outcome, enum fault_flavour flavour)
{
    if (outcome->prolog == 0)
        return NULL;
    if (is_of_the_node(flavour))
        return NULL;
    return "a certified node is refused";
}

static const char *judge_refusal(const struct outcome *outcome, enum fault_flavour flavour)
{
    if (outcome->prolog < 0)
        return strstr(host_log, "refused by ") != NULL ? NULL : "refused without a word";
    return strstr(host_log, "allowed") != NULL ? NULL : "let through without a word";
}

/* ---------------------------------------------------------------- every run */

/* Returns what is wrong with the log, or NULL. Lines are printable, not empty, without "(null)". */
static const char *judge_log(void)
{
    for (const char *c = host_log; *c != '\0'; c++)
        if (*c != '\n' && iscntrl((unsigned char)*c))
            return "a control character in the log";
    if (strstr(host_log, "(null)") != NULL)
        return "a null pointer in the log";
    return strstr(host_log, "\n\n") != NULL ? "an empty line in the log" : NULL;
}

static const char *judge_note(void)
{
    FILE *stream = fopen(fixture_path("refused"), "r");
    const char *wrong = NULL;
    char note[4096] = "";
    size_t length;

    if (stream != NULL) {
        length = fread(note, 1, sizeof note - 1, stream);
        if (length == 0 || note[length - 1] != '\n' || strstr(note, "refused by") == NULL)
            wrong = "the note is not whole";
        fclose(stream);
    }
    return wrong;
}

static const struct outcome *run_once(const struct part *part)
{
    struct outcome *outcome = life_begin();

    outcome->user.length = user.length;
    memcpy(outcome->user.text, user.text, user.length);
    unlink(fixture_path("refused"));
    life_process(part->name, part->body, &part->life);
    life_end();
    return outcome;
}

/* Whether the fault made the plugin kill the process that writes the note: it does so if no answer
 * comes. The next writer removes the unfinished note. */
static bool is_writer_given_up(void)
{
    return strncmp(fault_first_failed(), "read pipe:", 10) == 0 ||
           strncmp(fault_first_failed(), "poll", 4) == 0;
}

/* Removes unfinished notes. Returns whether there were any. */
static bool remove_half_notes(void)
{
    DIR *stream = opendir(fixture_directory());
    bool has_any = false;
    struct dirent *entry;

    while ((entry = readdir(stream)) != NULL)
        if (strncmp(entry->d_name, "refused.", 8) == 0) {
            unlinkat(dirfd(stream), entry->d_name, 0);
            has_any = true;
        }
    closedir(stream);
    return has_any;
}

/* Marks the calls to make fail in chosen. Returns their number. With AddressSanitizer processes
 * start slowly: there each call site fails in one flavour only, the flavours taking turns. */
static unsigned choose(unsigned calls, enum fault_flavour flavour, bool *chosen)
{
    const char *all = getenv("MUSTER_FAULTS");
    const bool is_plain = fault_has(FAULT_MEMORY);
    const unsigned budget = is_plain ? BUDGET : 4;
    unsigned count = 0, places = 0, stride;

    memset(chosen, all != NULL && strcmp(all, "all") == 0, CALLS);
    for (unsigned i = 1; i <= calls && i < CALLS; i++) {
        unsigned before = 0, after = 0;

        for (unsigned j = i - 1; j >= 1 && before < 1; j--)
            before += fault_site(j) == fault_site(i);
        for (unsigned j = i + 1; j <= calls && after < 1 && before >= 1; j++)
            after += fault_site(j) == fault_site(i);
        if (before < 1)
            chosen[i] |= places++ % FAULT_FLAVOURS == (unsigned)flavour || is_plain;
        else
            chosen[i] |= after == 0 && is_plain;
    }
    stride = calls / budget + 1;
    for (unsigned i = 1; i <= calls && i < CALLS; i++) {
        chosen[i] |= i % stride == 0;
        count += chosen[i];
    }
    return count;
}

static void fail_in_turn(const struct part *part, enum fault_kind kind, enum fault_flavour flavour)
{
    static bool chosen[CALLS];
    unsigned calls, runs, wrong = 0, missed = 0;

    fault_arm(kind, flavour, 0, false);
    run_once(part);
    fault_disarm();
    calls = fault_calls();
    runs = choose(calls, flavour, chosen);
    for (unsigned i = 1; i <= calls && i < CALLS; i++)
        for (int persists = 0; chosen[i] && persists < (i % 5 == 0 ? 2 : 1); persists++) {
            const struct outcome *outcome;
            const char *problem = NULL;

            fault_arm(kind, flavour, i, persists);
            outcome = run_once(part);
            fault_disarm();
            missed += *fault_first_failed() == '\0';
            if (*outcome->broken != '\0')
                problem = outcome->broken;
            if (problem == NULL && *outcome->printed != '\0')
                problem = outcome->printed;
            if (problem == NULL)
                problem = part->judge(outcome, flavour);
            if (problem == NULL)
                problem = judge_log();
            if (problem == NULL)
                problem = judge_note();
            if (remove_half_notes() && problem == NULL && !is_writer_given_up())
                problem = "half a note is left";
            if (problem != NULL && wrong++ < 5)
                tap_diag("%s %u%s of %u, %s: %s\nlog: %s", kinds[kind], i,
                         persists ? " and all after it" : "", calls, fault_first_failed(), problem,
                         host_log);
        }
    is_int(wrong, 0, "%s: %u of %u calls, %s, %s: nothing breaks", part->name, runs, calls,
           kinds[kind], kind == FAULT_MEMORY ? "out of memory" : flavours[flavour]);
    ok(calls == 0 || missed <= runs / 4, "... and the faults occurred (%u did not)", missed);
}

/* ---------------------------------------------------------------- */

static void fail_part(const struct part *part)
{
    if (part->needs_certificate && geteuid() != 0) {
        tap_skip("%s: only root can write a valid certificate", part->name);
        return;
    }
    if (part->needs_certificate)
        put_certificate(part->certificate);
    if (fault_has(FAULT_MEMORY))
        fail_in_turn(part, FAULT_MEMORY, FAULT_EXHAUSTED);
    else
        tap_skip("%s: AddressSanitizer has its own allocations", part->name);
    for (int flavour = 0; flavour < FAULT_FLAVOURS; flavour++)
        fail_in_turn(part, FAULT_FILES, (enum fault_flavour)flavour);
}

/* Saves the result of a run without faults; the others are compared with it. */
static void save_reference(const char *words)
{
    struct life life = {"srun", .plugstack_arguments = words};
    struct outcome *outcome = life_begin();

    life_process("front", life_front, &life);
    user.length = outcome->user.length;
    memcpy(user.text, outcome->user.text, user.length);
    life_process("step", life_step, &life);
    for (int i = 0; i < outcome->task_count; i++) {
        reference_tasks[i].length = outcome->tasks[i].length;
        memcpy(reference_tasks[i].text, outcome->tasks[i].text, reference_tasks[i].length);
    }
    life_end();
    is_str(outcome->broken, "", "without faults no rule is broken");
}

int main(int argc, char *argv[])
{
    char *machine, root[4200], conf[4400];

    fixture_begin(argv);
    if (geteuid() == 0 && !fixture_isolate())
        tap_skip_all("no namespaces to keep the prolog away from this machine");
    life_use(fixture_plugin(), fixture_directory(), false);
    machine = tree_unpack("lab-node");
    snprintf(root, sizeof root, "root=%s", machine);
    snprintf(conf, sizeof conf,
             "CertificateFile=%s\nOnMissing=refuse\nOnExpired=refuse\nOnChanged=refuse\n"
             "GateBrake=off\n",
             fixture_path("certificate"));
    write_file(fixture_path("muster.conf"), conf);
    save_reference(root);
    {
        const struct part parts[] = {
            {"srun", life_front, {"srun", .plugstack_arguments = root}, .judge = judge_front},
            {"step", life_step, {"step", .plugstack_arguments = root}, .judge = judge_step},
            {"epilog", life_epilog, {"epilog", .plugstack_arguments = root}, .judge = judge_epilog},
            {"gate, certified", life_prolog, {"gate"}, true, VALID, judge_valid},
            {"gate, expired", life_prolog, {"gate"}, true, EXPIRED, judge_refusal},
            {"gate, missing", life_prolog, {"gate"}, true, MISSING, judge_refusal},
        };

        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            fail_part(&parts[i]);
    }
    unlink(fixture_path("refused"));
    tree_remove(machine);
    fixture_end();
    return tap_done();
}
