/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NETIF_NOTES_H
#define MUSTER_NETIF_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/netif/netif_journal.h"

/* Notes of jobs that do not get the journal's lock at once: the job is here, or gone. The next
 * process with the lock merges the notes into the journal first. A note is an empty file in the
 * directory JOURNAL.d, "12-here-BOOT" or "12-gone-BOOT"; the last note of a job counts. */

/* Returns 0, or -1 with err. */
int netif_note_write(const char *journal_path, const char *boot_id, uint32_t job, bool is_here,
                     struct error *err);

struct netif_notes {
    char **names;
    size_t count;
};

/* Merges the notes of this boot into the journal; needs the lock. A job that is here becomes a
 * holder of all entries, as the Interface lines are the same for all jobs; a job that is gone of
 * none. *is_dirty is set if that changed the journal. notes gets the merged notes, which are to be
 * removed after the journal is stored. A note for which there is no memory stays. */
void netif_notes_merge(const char *journal_path, struct netif_journal *journal, bool *is_dirty,
                       struct netif_notes *notes);
/* Removes the merged notes if is_stored, and releases the names. */
void netif_notes_end(const char *journal_path, struct netif_notes *notes, bool is_stored);

#endif
