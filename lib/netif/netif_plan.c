/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/netif/netif_apply.h"

#include <string.h>

enum plan_restore plan_restore(const struct netif_entry *entry, long found)
{
    if (found == entry->was)
        return PLAN_IS_RESTORED;
    return entry_is_own_value(entry, found) ? PLAN_RESTORE : PLAN_FOREIGN;
}

/* Makes wanted the last of the entry's values and drops values that cannot be in force any more.
 * Returns whether the entry has changed. */
static bool set_wanted(struct netif_entry *entry, long found, long wanted)
{
    long kept[JOURNAL_VALUES];
    size_t count = 0;
    bool is_changed;

    /* an older value may still be in force if muster was killed before it set the next one */
    if (found != wanted && entry_is_own_value(entry, found))
        kept[count++] = found;
    kept[count++] = wanted;
    is_changed = count != entry->set_count || memcmp(kept, entry->set, count * sizeof *kept) != 0;
    memcpy(entry->set, kept, count * sizeof *kept);
    entry->set_count = count;
    return is_changed;
}

int plan_make(struct netif_journal *journal, const char *interface, int index,
              enum netif_setting setting, long found, long wanted, uint32_t job, bool *is_dirty,
              bool *is_foreign)
{
    struct netif_entry *entry = journal_find(journal, index, setting);
    bool failed = false;

    *is_foreign = false;
    if (!entry) {
        if (found == wanted)
            return PLAN_NOTHING;
        entry = journal_add(journal, interface, index, setting, found, wanted);
        if (!entry)
            return -1;
        *is_dirty = true;
    } else if (plan_restore(entry, found) == PLAN_FOREIGN) {
        entry->was = found;
        *is_foreign = *is_dirty = true;
    }
    if (set_wanted(entry, found, wanted))
        *is_dirty = true;
    if (entry_add_job(entry, job, &failed))
        *is_dirty = true;
    if (failed)
        return -1;
    return found == wanted ? PLAN_NOTHING : PLAN_MAKE;
}
