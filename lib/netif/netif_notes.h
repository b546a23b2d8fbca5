/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NETIF_NOTES_H
#define MUSTER_NETIF_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/netif/netif_journal.h"

/* What jobs leave that do not get the journal's lock at once: that they are here, or gone. Whoever
 * has the lock next brings that into the journal, before anything else. A note is an empty file of
 * the directory JOURNAL.d, "12-here-BOOT" or "12-gone-BOOT"; the last one of a job holds. */

/* Returns 0, or -1 with err. */
int netif_note_leave(const char *journal_path, const char *boot_id, uint32_t job, bool is_here,
                     struct error *err);

struct netif_notes {
    char **names;
    size_t count;
};

/* Under the lock: a job that is here holds all that is in the journal of this boot, as the
 * Interface lines are the node's, and one that is gone nothing. *is_dirty is set when that changed
 * the journal. notes: which ones those are, to be removed once the journal is stored. A note that
 * memory does not suffice for stays. */
void netif_notes_merge(const char *journal_path, struct netif_journal *journal, bool *is_dirty,
                       struct netif_notes *notes);
/* Removes the notes where is_stored, and releases the names. */
void netif_notes_end(const char *journal_path, struct netif_notes *notes, bool is_stored);

#endif
