/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NETIF_JOURNAL_H
#define MUSTER_NETIF_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/conf/netif.h"

/* The journal: the values that settings of interfaces had before muster set them, and the jobs that
 * still need muster's values. It is written before the first interface is changed. It is valid for
 * one boot, as the settings are. So it is on /run, and nothing waits for a disk. A text file owned
 * by root:
 *   muster-interfaces 1
 *   boot 571a17f9-6ccc-4226-a5af-f9f96bf0af61
 *   eth1 3 mtu was 1500 set 9000 jobs 12,13
 *   end 1
 * This is eth1, index 3: its MTU was 1500, and muster set it to 9000 for the jobs 12 and 13. "set"
 * lists all values that muster may have set, the wanted one last, as a killed process leaves any of
 * them. Job 0 is an administrator's "muster interfaces --apply". An entry without jobs ("jobs -")
 * is to be restored. */

enum {
    JOURNAL_VALUES = 4,
    JOURNAL_ENTRIES = 4096,
    JOURNAL_JOBS = 4096, /* per entry */
    JOURNAL_BYTES = 1 << 20,
};

struct netif_entry {
    char interface[NETIF_NAME];
    int index; /* unique until the next boot, unlike a MAC, which two interfaces (of a bond) may
                  share, and which can change */
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

/* Returns the entry of this interface and setting, or NULL. */
struct netif_entry *journal_find(const struct netif_journal *journal, int index,
                                 enum netif_setting setting);

/* Appends an entry without jobs. Returns NULL if memory is out or there are too many entries. */
struct netif_entry *journal_add(struct netif_journal *journal, const char *interface, int index,
                                enum netif_setting setting, long was, long set);
void journal_remove(struct netif_journal *journal, struct netif_entry *entry);

/* Add or remove a job of the entry. Return whether that changed the entry. entry_add_job() sets
 * *failed if there is no room or memory for the job. */
bool entry_add_job(struct netif_entry *entry, uint32_t job, bool *failed);
bool entry_remove_job(struct netif_entry *entry, uint32_t job);

/* Returns whether muster set this value, or may have left it when it was killed during a change. */
bool entry_is_own_value(const struct netif_entry *entry, long value);

/* Returns the text, malloc'd; NULL if memory is out. */
char *journal_format(const struct netif_journal *journal);

/* Parses the text. Returns 0, or -1 with err "line N: ..." and an empty journal. */
int journal_parse(const char *text, struct netif_journal *journal, struct error *err);

/* Reads the file. Returns 0; 1 with an empty journal if there is no file, or an empty file, which
 * only a power failure leaves on a disk; or -1 with err. The file must be a regular file of this
 * user (root) that nobody else may write to. */
int journal_load(const char *path, struct netif_journal *journal, struct error *err);

/* Replaces the file as a whole; an empty journal removes it. Returns 0, or -1 with err and the old
 * file in place, also if the text would be longer than journal_load() accepts. */
int journal_store(const char *path, const struct netif_journal *journal, struct error *err);

/* Takes the journal's lock, PATH.lock, and waits wait_ms at most. Returns a descriptor to close, or
 * -1 with err and errno, EWOULDBLOCK if another process has the lock. Makes a missing directory. */
int journal_lock(const char *path, int wait_ms, struct error *err);

#endif
