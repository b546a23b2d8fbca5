/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/netif/netif_notes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/sysfs.h"

static const char *const words[] = {"gone", "here"};

struct note {
    unsigned job;
    bool is_here;
    char boot_id[64];
};

static int note_path(const char *journal_path, const char *name, char path[SYSFS_PATH])
{
    return snprintf(path, SYSFS_PATH, "%s.d/%s", journal_path, name) < SYSFS_PATH ? 0 : -1;
}

static bool note_parse(const char *name, struct note *note)
{
    char word[5];
    int end = -1;

    if (sscanf(name, "%u-%4[a-z]-%63s%n", &note->job, word, note->boot_id, &end) != 3 || end < 0 ||
        name[end])
        return false;
    note->is_here = strcmp(word, words[true]) == 0;
    return note->is_here || strcmp(word, words[false]) == 0;
}

int netif_note_write(const char *journal_path, const char *boot_id, uint32_t job, bool is_here,
                     struct error *err)
{
    char path[SYSFS_PATH], other[SYSFS_PATH], name[96];
    int fd = -1;

    snprintf(name, sizeof name, "%u-%s-%s", (unsigned)job, words[!is_here], boot_id);
    if (note_path(journal_path, name, other) != 0 || note_path(journal_path, "", path) != 0) {
        errno = ENAMETOOLONG;
        return error_set(err, "%.100s...: %m", journal_path);
    }
    snprintf(name, sizeof name, "%u-%s-%s", (unsigned)job, words[is_here], boot_id);
    for (int i = 0; fd < 0 && i < 3; i++) { /* another process may remove the empty directory */
        note_path(journal_path, "", path);
        mkdir(path, 0700);
        note_path(journal_path, name, path);
        fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    }
    if (fd < 0)
        return error_set(err, "%s: %m", path);
    close(fd);
    unlink(other);
    return 0;
}

/* Merges a note into all entries. Returns whether it could be merged completely. */
static bool note_merge(const struct note *note, struct netif_journal *journal, bool *is_dirty)
{
    bool failed = false;

    for (size_t i = 0; i < journal->count; i++) {
        struct netif_entry *entry = &journal->entries[i];

        *is_dirty |= note->is_here ? entry_add_job(entry, note->job, &failed)
                                   : entry_remove_job(entry, note->job);
    }
    return !failed;
}

void netif_notes_merge(const char *journal_path, struct netif_journal *journal, bool *is_dirty,
                       struct netif_notes *notes)
{
    struct note note;

    notes->count = sysfs_names("", &notes->names, "%s.d", journal_path + 1);
    /* a killed job may have left both notes; "here" is merged last, as "gone" would restore the
     * settings of a running job */
    for (int is_here = 0; is_here <= 1; is_here++)
        for (size_t i = 0; i < notes->count; i++)
            if (note_parse(notes->names[i], &note) && note.is_here == is_here &&
                strcmp(note.boot_id, journal->boot_id) == 0 &&
                !note_merge(&note, journal, is_dirty))
                notes->names[i][0] = '\0';
}

void netif_notes_end(const char *journal_path, struct netif_notes *notes, bool is_stored)
{
    char path[SYSFS_PATH];
    struct note note;

    for (size_t i = 0; is_stored && i < notes->count; i++)
        if (note_parse(notes->names[i], &note) &&
            note_path(journal_path, notes->names[i], path) == 0)
            unlink(path);
    if (notes->count > 0 && note_path(journal_path, "", path) == 0)
        rmdir(path); /* only if it is empty; netif_note_write() makes it again */
    sysfs_names_free(notes->names, notes->count);
    *notes = (struct netif_notes){0};
}
