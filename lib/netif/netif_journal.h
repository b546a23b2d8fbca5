/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NETIF_JOURNAL_H
#define MUSTER_NETIF_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/conf/netif.h"

/* The journal: what interfaces were before muster set them, which is written before the first of
 * them is touched, and which jobs still want them so. It is of one boot, as the settings are: it
 * stands on /run, and nothing waits for a disk. A text file of root's:
 *   muster-interfaces 1
 *   boot 571a17f9-6ccc-4226-a5af-f9f96bf0af61
 *   eth1 3 mtu was 1500 set 9000 jobs 12,13
 *   end 1
 * that is eth1, index 3: its MTU was 1500, muster made it 9000, for the jobs 12 and 13. "set" lists
 * all values that muster may have made it, the one wanted now last: a process that was killed in
 * between leaves any of them. The job 0 is an administrator's "muster interfaces --apply". An
 * entry without jobs ("jobs -") is to be put back. */

enum {
    JOURNAL_VALUES = 4,
    JOURNAL_ENTRIES = 4096,
    JOURNAL_JOBS = 4096, /* of one entry */
    JOURNAL_BYTES = 1 << 20,
};

struct netif_entry {
    char interface[NETIF_NAME];
    int index; /* the kernel never gives it to another interface before the next boot; a MAC may
                  be the same on two (a bond) and change on one */
    enum netif_setting setting;
    long was;
    long set[JOURNAL_VALUES];
    size_t set_count; /* at least 1 */
    uint32_t *jobs;
    size_t job_count;
};

struct netif_journal {
    char boot_id[64];
    struct netif_entry *entries;
    size_t count;
};

void journal_clear(struct netif_journal *journal);

/* The entry of that interface and setting, or NULL. */
struct netif_entry *journal_find(const struct netif_journal *journal, int index,
                                 enum netif_setting setting);

/* Appends an entry without jobs. NULL when memory is out or there are too many. */
struct netif_entry *journal_add(struct netif_journal *journal, const char *interface, int index,
                                enum netif_setting setting, long was, long set);
void journal_remove(struct netif_journal *journal, struct netif_entry *entry);

/* Return true when that changed the entry; entry_hold() also false, with *failed, when it cannot.
 */
bool entry_hold(struct netif_entry *entry, uint32_t job, bool *failed);
bool entry_let_go(struct netif_entry *entry, uint32_t job);

/* Whether muster made it that value, or was killed while it made another of it. */
bool entry_is_ours(const struct netif_entry *entry, long value);

/* The text; malloc'd, NULL when memory is out. */
char *journal_format(const struct netif_journal *journal);

/* Reads such a text. Returns 0, or -1 with err "line N: ..." and an empty journal. */
int journal_parse(const char *text, struct netif_journal *journal, struct error *err);

/* Reads the file: 0; 1 when there is none, or an empty one, which only a lost power supply leaves
 * on a disk, with an empty journal; -1 with err. It counts only as a
 * regular file of this user's (root) that nobody else may write to. */
int journal_load(const char *path, struct netif_journal *journal, struct error *err);

/* Replaces the file as a whole; an empty journal removes it. Returns 0,
 * or -1 with err and the old one in place: also where the new one is larger than journal_load()
 * takes. */
int journal_store(const char *path, const struct netif_journal *journal, struct error *err);

/* Takes the lock that goes with the journal, PATH.lock, waiting wait_ms at most. Returns a
 * descriptor to close, or -1 with err and errno, EWOULDBLOCK where another one holds it. Makes the
 * directory when it is missing. */
int journal_lock(const char *path, int wait_ms, struct error *err);

#endif
