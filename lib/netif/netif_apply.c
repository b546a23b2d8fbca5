/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/netif/netif_apply.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/grow.h"
#include "lib/base/text.h"
#include "lib/constants/node_constants.h"
#include "lib/netif/netif_notes.h"

void netif_report_add(struct netif_report *report, enum netif_line_kind kind, const char *format,
                      ...)
{
    struct netif_report_line *line;

    if (report->line_count == REPORT_LINES) {
        report->left_out++;
        return;
    }
    line = &report->lines[report->line_count++];
    line->kind = kind;
    TEXT_FORMAT(line->text, sizeof line->text, format);
}

bool netif_is_at_fault(const struct netif_report *report, bool is_done, bool is_late)
{
    return is_done ? report->failed > report->inconclusive : is_late && !report->has_waited;
}

/* As journal_lock(). If another process has the lock, leaves a note about the job before it waits,
 * as this process may be killed meanwhile. */
static int lock_or_note(const char *journal_path, int wait_ms, const struct netif_machine *machine,
                        uint32_t job, bool is_here, struct netif_report *report, struct error *err)
{
    bool has_waited = report->has_waited;
    long begin_ms = clock_ms();
    int lock = journal_lock(journal_path, 0, err);

    if (lock >= 0 || errno != EWOULDBLOCK)
        return lock;
    report->has_waited = true;
    if (job != 0 && netif_note_write(journal_path, machine->boot_id, job, is_here, err) != 0)
        netif_report_add(report, LINE_NOT_RESTORED, "%s", err->text);
    lock = journal_lock(journal_path, wait_ms, err);
    if (lock >= 0)
        report->has_waited = has_waited || clock_ms() - begin_ms > NETIF_WAITED_MS;
    return lock;
}

/* Formats "mtu 9000". Returns text. */
static const char *format_setting(enum netif_setting setting, long value, char text[64])
{
    char number[32];

    netif_value_format(setting, value, number, sizeof number);
    snprintf(text, 64, "%s %s", netif_setting_name(setting), number);
    return text;
}

/* Loads the journal of this boot. Drops the entries of an earlier boot, as a reboot has undone
 * their settings. Returns 0, or -1 after it has added a line. */
static int load_journal(const char *path, const struct netif_machine *machine,
                        struct netif_journal *journal, bool *is_dirty, struct netif_report *report)
{
    struct error err;
    int status = journal_load(path, journal, &err);

    *is_dirty = false;
    if (status < 0) {
        netif_report_add(report, LINE_NOT_RESTORED,
                         "the interface journal cannot be read, nothing is changed: %s; "
                         "move it away once the interfaces are as they should be",
                         err.text);
        return -1;
    }
    if (status == 0 && strcmp(journal->boot_id, machine->boot_id) != 0) {
        netif_report_add(report, LINE_INFO,
                         "the reboot has undone %zu interface settings: nothing to restore",
                         journal->count);
        journal_clear(journal);
        *is_dirty = true;
    }
    snprintf(journal->boot_id, sizeof journal->boot_id, "%s", machine->boot_id);
    return 0;
}

/* ---------------------------------------------------------------- restoring */

/* Restores an entry. Returns whether the entry is completed: the setting is restored, the interface
 * has gone, or somebody else has changed the setting. */
static bool restore_entry(const struct netif_machine *machine, const struct netif_entry *entry,
                          struct netif_report *report)
{
    char name[NETIF_NAME], was[64], is[64];
    int index = entry->index, other = 0;
    struct error err;
    long found;
    int status = machine->find(machine->context, NULL, &index, name, &err);

    format_setting(entry->setting, entry->was, was);
    if (status == 1) {
        bool is_another =
            machine->find(machine->context, entry->interface, &other, name, &err) == 0;

        netif_report_add(report, LINE_INFO, "%s: %s; %s is not restored", entry->interface,
                         is_another ? "is a different interface now" : "does not exist any more",
                         was);
        return true;
    }
    if (status == 0)
        status = machine->get(machine->context, name, entry->index, entry->setting, &found, &err);
    if (status == 0) {
        switch (plan_restore(entry, found)) {
        case PLAN_IS_RESTORED:
            return true;
        case PLAN_FOREIGN:
            netif_report_add(report, LINE_NOT_RESTORED,
                             "%s: %s was changed by another program and is not restored to %s",
                             name, format_setting(entry->setting, found, is), was);
            report->left++;
            return true;
        case PLAN_RESTORE:
            break;
        }
        status =
            machine->set(machine->context, name, entry->index, entry->setting, entry->was, &err);
    }
    if (status != 0) {
        netif_report_add(report, LINE_NOT_RESTORED,
                         "%s: cannot restore %s: %s; muster retries with the next job",
                         entry->interface, was, err.text);
        report->left++;
        return false;
    }
    report->restored++;
    return true;
}

/* Restores all settings that no job holds, the last one made first. */
static void restore_orphans(const struct netif_machine *machine, struct netif_journal *journal,
                            bool *is_dirty, struct netif_report *report)
{
    for (size_t i = journal->count; i-- > 0;)
        if (journal->entries[i].job_count == 0 &&
            restore_entry(machine, &journal->entries[i], report)) {
            journal_remove(journal, &journal->entries[i]);
            *is_dirty = true;
        }
}

static bool remove_jobs(struct netif_journal *journal, enum netif_scope which, uint32_t job)
{
    bool is_changed = false;

    for (size_t i = 0; i < journal->count; i++) {
        struct netif_entry *entry = &journal->entries[i];

        if (which == RESTORE_JOB && entry_remove_job(entry, job))
            is_changed = true;
        if (which == RESTORE_ALL && entry->job_count > 0) {
            entry->job_count = 0;
            is_changed = true;
        }
    }
    return is_changed;
}

void netif_restore(const char *journal_path, int wait_ms, const struct netif_machine *machine,
                   enum netif_scope which, uint32_t job, struct netif_report *report)
{
    struct netif_journal journal;
    struct netif_notes notes;
    char lock_path[512];
    struct error err;
    bool is_dirty, is_stored = true;
    int lock;

    /* Without both files nothing was ever set. A lock file alone may belong to a prolog that is
     * about to write the journal. */
    snprintf(lock_path, sizeof lock_path, "%s.lock", journal_path);
    if (access(lock_path, F_OK) != 0 && access(journal_path, F_OK) != 0)
        return;
    lock = lock_or_note(journal_path, wait_ms, machine, which == RESTORE_JOB ? job : 0, false,
                        report, &err);
    if (lock < 0) {
        netif_report_add(report, LINE_NOT_RESTORED, "nothing is restored: %s", err.text);
        report->left++;
        return;
    }
    if (load_journal(journal_path, machine, &journal, &is_dirty, report) != 0) {
        report->left++;
        close(lock);
        return;
    }
    /* Remove the job from the journal first: if this process is killed, the next one restores. A
     * journal that cannot be written (a full disk) can perhaps still be removed at the end. */
    netif_notes_merge(journal_path, &journal, &is_dirty, &notes);
    if (remove_jobs(&journal, which, job))
        is_dirty = journal_store(journal_path, &journal, &err) != 0 || is_dirty;
    restore_orphans(machine, &journal, &is_dirty, report);
    if (is_dirty && journal_store(journal_path, &journal, &err) != 0) {
        netif_report_add(report, LINE_NOT_RESTORED, "the interface journal cannot be written: %s",
                         err.text);
        report->left++;
        is_stored = false;
    }
    netif_notes_end(journal_path, &notes, is_stored);
    journal_clear(&journal);
    close(lock);
}

/* ---------------------------------------------------------------- applying */

struct change {
    char interface[NETIF_NAME];
    int index;
    enum netif_setting setting;
    long was, wanted;
    unsigned line;
};

struct apply_state {
    const struct netif_machine *machine;
    const struct netif_line *lines;
    size_t line_count;
    uint32_t job;
    struct netif_report *report;
    struct netif_journal journal;
    bool is_dirty;
    bool lacks_roce; /* a directory for RoCE was not made, for lack of the journal or memory */
    struct change *changes;
    size_t change_count;
};

/* Counts a failure as inconclusive if memory or descriptors ran out: other jobs of the node may
 * use them, and a driver allocates new rings for another MTU or size. Also if the addresses
 * changed while they were read, as containers come and go. */
static void count_inconclusive(struct apply_state *state, enum netif_setting setting, int error)
{
    if (error != ENOMEM && error != ENOBUFS && error != EMFILE && error != ENFILE && error != EINTR)
        return;
    state->report->inconclusive++;
    state->lacks_roce |= setting == NETIF_ROCE_CONFIG;
}

static void report_failure(struct apply_state *state, const char *interface,
                           enum netif_setting setting, long wanted, unsigned line, const char *why)
{
    char words[64];

    netif_report_add(state->report, LINE_FAILED,
                     "%s: %s cannot be set: %s; Interface line %u of "
                     "muster.conf",
                     interface, format_setting(setting, wanted, words), why, line);
    state->report->failed++;
}

static void plan_setting(struct apply_state *state, const char *interface, int index,
                         enum netif_setting setting, long wanted, unsigned line)
{
    const struct netif_machine *machine = state->machine;
    struct error err;
    char words[64];
    bool is_foreign;
    long found;
    int plan;

    if (machine->effective(machine->context, setting, wanted) != wanted) {
        snprintf(err.text, sizeof err.text,
                 "net.ipv4.conf.all.%s is %ld, and the kernel uses the greater value",
                 netif_setting_name(setting),
                 machine->effective(machine->context, setting, wanted));
        report_failure(state, interface, setting, wanted, line, err.text);
        return;
    }
    errno = 0;
    if (machine->get(machine->context, interface, index, setting, &found, &err) != 0) {
        if (state->lacks_roce && (setting == NETIF_ROCE_MODE || setting == NETIF_ROCE_TOS))
            state->report->inconclusive++;
        else
            count_inconclusive(state, setting, errno);
        report_failure(state, interface, setting, wanted, line, err.text);
        return;
    }
    /* grow changes first, so that each new entry of the journal is also in changes */
    plan = GROW(state->changes, state->change_count)
               ? plan_make(&state->journal, interface, index, setting, found, wanted, state->job,
                           &state->is_dirty, &is_foreign)
               : -1;
    if (plan < 0) {
        report_failure(state, interface, setting, wanted, line, "out of memory");
        count_inconclusive(state, setting, ENOMEM);
        return;
    }
    if (is_foreign)
        netif_report_add(state->report, LINE_INFO,
                         "%s: another program has set %s; that value will be restored later",
                         interface, format_setting(setting, found, words));
    if (plan == PLAN_NOTHING)
        return;
    state->changes[state->change_count] = (struct change){
        .index = index, .setting = setting, .was = found, .wanted = wanted, .line = line};
    snprintf(state->changes[state->change_count++].interface, NETIF_NAME, "%s", interface);
}

static bool wants_roce(const struct netif_line *line)
{
    return line->given[NETIF_ROCE_MODE] || line->given[NETIF_ROCE_TOS];
}

/* Round 0 plans the RoCE directories; in round 1 the RoCE settings are read from them. */
static void plan_line(struct apply_state *state, const struct netif_line *line, int round)
{
    for (size_t i = 0; i < line->interfaces.count; i++) {
        const char *interface = line->interfaces.names[i];
        char name[NETIF_NAME];
        struct error err = {""};
        int index = 0, status;

        errno = 0;
        status = state->machine->find(state->machine->context, interface, &index, name, &err);
        if (status != 0) {
            if (round == 1) {
                count_inconclusive(state, NETIF_ADDRESS, errno);
                netif_report_add(state->report, LINE_FAILED,
                                 "%s: %s; Interface line %u of muster.conf", interface,
                                 status > 0 ? "is not on this node" : err.text, line->line);
                state->report->failed++;
            }
            continue;
        }
        if (round == 0) {
            if (wants_roce(line))
                plan_setting(state, interface, index, NETIF_ROCE_CONFIG, 1, line->line);
            continue;
        }
        for (int setting = 0; setting < NETIF_ADDRESS; setting++)
            if (line->given[setting])
                plan_setting(state, interface, index, (enum netif_setting)setting,
                             line->values[setting], line->line);
    }
}

static void apply_change(struct apply_state *state, const struct change *change)
{
    const struct netif_machine *machine = state->machine;
    struct error err;
    char words[64];
    long found;

    errno = 0;
    if (machine->set(machine->context, change->interface, change->index, change->setting,
                     change->wanted, &err) != 0) {
        count_inconclusive(state, change->setting, errno);
        report_failure(state, change->interface, change->setting, change->wanted, change->line,
                       err.text);
        return;
    }
    if (machine->get(machine->context, change->interface, change->index, change->setting, &found,
                     &err) != 0 ||
        found == change->wanted) {
        state->report->made++;
        return;
    }
    /* the driver rounded the value, which would later look like another program's */
    machine->set(machine->context, change->interface, change->index, change->setting, change->was,
                 NULL);
    snprintf(err.text, sizeof err.text,
             "the driver sets it to %s; use a value that the driver accepts",
             format_setting(change->setting, found, words));
    report_failure(state, change->interface, change->setting, change->wanted, change->line,
                   err.text);
}

static void check_addresses(struct apply_state *state, const struct netif_line *line)
{
    for (size_t i = 0; line->given[NETIF_ADDRESS] && i < line->interfaces.count; i++) {
        const char *interface = line->interfaces.names[i];
        bool is_any = strcmp(line->address, "require") == 0;
        char name[NETIF_NAME];
        struct error err;
        int index = 0, status;

        if (state->machine->find(state->machine->context, interface, &index, name, &err) != 0)
            continue; /* reported already */
        errno = 0;
        status = state->machine->has_address(state->machine->context, index, line->address, &err);
        if (status == 1)
            continue;
        count_inconclusive(state, NETIF_ADDRESS, status < 0 ? errno : 0);
        if (status == 0)
            netif_report_add(state->report, LINE_FAILED,
                             "%s: has no IP address%s%s; Interface line %u of muster.conf",
                             interface, is_any ? "" : " in ", is_any ? "" : line->address,
                             line->line);
        else
            netif_report_add(state->report, LINE_FAILED,
                             "%s: its addresses cannot be read: %s; Interface line %u of "
                             "muster.conf",
                             interface, err.text, line->line);
        state->report->failed++;
    }
}

/* Stores changes of the journal that this job does not depend on: dropped entries of an earlier
 * boot, merged notes, restored settings. If that fails, the old journal has too many entries, which
 * the next call handles again. Returns whether the journal is stored. */
static bool store_pending(struct apply_state *state, const char *journal_path)
{
    struct error err;
    bool is_stored = !state->is_dirty || journal_store(journal_path, &state->journal, &err) == 0;

    if (!is_stored) {
        netif_report_add(state->report, LINE_NOT_RESTORED,
                         "the interface journal cannot be written: %s", err.text);
        state->report->left++;
    }
    state->is_dirty = false;
    return is_stored;
}

/* Compares without setting anything, as there is no journal. Settings that are right need none. */
static void compare_only(struct apply_state *state, const char *why)
{
    unsigned before = state->report->failed;

    for (int round = 0; round < 2; round++) {
        state->change_count = 0;
        for (size_t i = 0; i < state->line_count; i++)
            plan_line(state, &state->lines[i], round);
        for (size_t i = 0; i < state->change_count; i++) {
            const struct change *change = &state->changes[i];

            report_failure(state, change->interface, change->setting, change->wanted, change->line,
                           why);
            state->report->inconclusive++;
        }
        state->lacks_roce |= round == 0 && state->change_count > 0;
    }
    if (state->report->failed == before)
        netif_report_add(state->report, LINE_INFO,
                         "%s; all interfaces are as they should be, so nothing had to be set", why);
}

/* Plans and makes the settings of a round. Returns false if the journal could not be written: then
 * nothing is set. */
static bool apply_round(struct apply_state *state, const char *journal_path, int round)
{
    struct error err;
    bool can_apply = true;

    state->change_count = 0;
    for (size_t i = 0; i < state->line_count; i++)
        plan_line(state, &state->lines[i], round);
    if (state->is_dirty && journal_store(journal_path, &state->journal, &err) != 0) {
        unsigned unset = state->change_count > 0 ? (unsigned)state->change_count : 1;

        netif_report_add(state->report, LINE_FAILED,
                         "the interface journal cannot be written, so nothing is set: "
                         "%s",
                         err.text);
        state->report->failed += unset;
        state->report->inconclusive += unset;
        can_apply = false;
    }
    state->is_dirty = false;
    for (size_t i = 0; can_apply && i < state->change_count; i++)
        apply_change(state, &state->changes[i]);
    return can_apply;
}

void netif_apply(const char *journal_path, int wait_ms, const struct netif_machine *machine,
                 const struct netif_line *lines, size_t line_count, uint32_t job,
                 struct netif_report *report)
{
    struct apply_state state = {
        .machine = machine, .lines = lines, .line_count = line_count, .job = job, .report = report};
    struct error err;
    struct netif_notes notes;
    bool has_roce = false, is_held_by_another;
    int lock = lock_or_note(journal_path, wait_ms, machine, job, true, report, &err);

    is_held_by_another = lock < 0 && errno == EWOULDBLOCK;
    if (is_held_by_another) { /* the process with the lock may be changing the interfaces now */
        netif_report_add(report, LINE_FAILED, "no interface is set: %s", err.text);
        report->failed++;
        report->inconclusive++;
        return;
    }
    if (lock < 0) {
        compare_only(&state, err.text);
    } else if (load_journal(journal_path, machine, &state.journal, &state.is_dirty, report) != 0) {
        compare_only(&state, "the journal cannot be read");
    } else {
        netif_notes_merge(journal_path, &state.journal, &state.is_dirty, &notes);
        restore_orphans(machine, &state.journal, &state.is_dirty, report);
        netif_notes_end(journal_path, &notes, store_pending(&state, journal_path));
        for (size_t i = 0; i < line_count; i++)
            has_roce |= wants_roce(&lines[i]);
        if (!has_roce || apply_round(&state, journal_path, 0))
            apply_round(&state, journal_path, 1);
    }
    for (size_t i = 0; i < line_count; i++)
        check_addresses(&state, &lines[i]);
    free(state.changes);
    journal_clear(&state.journal);
    if (lock >= 0)
        close(lock);
}
