/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/watch/judge_parts.h"

#include <math.h>
#include <string.h>

#include "lib/base/grow.h"

double watch_silence_s(const struct watch *watch)
{
    return WATCH_SILENT_S + 3 * watch->interval_s;
}

const struct watch_sample *watch_sample_at(const struct watch_node *node, size_t age)
{
    return age < node->kept ? &node->window[(node->count - 1 - age) % WATCH_WINDOW] : NULL;
}

const struct watch_sample *watch_newest(const struct watch_node *node)
{
    return watch_sample_at(node, 0);
}

const struct watch_sample *watch_sample_before(const struct watch_node *node)
{
    const struct watch_sample *newest = watch_sample_at(node, 0), *sample;

    for (size_t age = 1; (sample = watch_sample_at(node, age)); age++)
        if (newest->time_s - sample->time_s >= WATCH_RECENT_S)
            return sample;
    return NULL;
}

const struct watch_sample *watch_oldest(const struct watch_node *node)
{
    return node->kept < 2 ? NULL : watch_sample_at(node, node->kept - 1);
}

const struct watch_sample *watch_recent(const struct watch_node *node)
{
    const struct watch_sample *sample = watch_sample_before(node);

    return sample ? sample : watch_oldest(node);
}

const struct watch_rank *watch_rank_find(const struct watch_sample *sample, long step, int rank)
{
    for (size_t i = 0; sample && i < sample->rank_count; i++)
        if (sample->ranks[i].step == step && sample->ranks[i].rank == rank)
            return &sample->ranks[i];
    return NULL;
}

const struct watch_rank *watch_rank_next(const struct watch *watch, const struct watch_node *node,
                                         const struct watch_rank *rank)
{
    const struct watch_sample *newest = watch_newest(node);

    for (size_t k = rank ? (size_t)(rank - newest->ranks) + 1 : 0; newest && k < newest->rank_count;
         k++)
        if (newest->ranks[k].step == watch->step)
            return &newest->ranks[k];
    return NULL;
}

const struct watch_rail *watch_rail_find(const struct watch_sample *sample, const char *name)
{
    for (size_t i = 0; sample && i < sample->rail_count; i++)
        if (strcmp(sample->rails[i].name, name) == 0)
            return &sample->rails[i];
    return NULL;
}

double watch_rate(const struct watch_node *node, double before, double now)
{
    const struct watch_sample *newest = watch_newest(node), *recent = watch_recent(node);
    double seconds = recent ? newest->time_s - recent->time_s : 0;

    return seconds > 0 && now >= before ? (now - before) / seconds : NAN;
}

struct watch_use watch_use_of(const struct watch_node *node, const struct watch_rank *rank)
{
    const struct watch_rank *before = watch_rank_find(watch_recent(node), rank->step, rank->rank);

    if (!before)
        return (struct watch_use){NAN, NAN, NAN};
    return (struct watch_use){watch_rate(node, before->cpu_s, rank->cpu_s),
                              watch_rate(node, before->queued_s, rank->queued_s),
                              watch_rate(node, before->io_bytes, rank->io_bytes)};
}

bool watch_is_uncounted(const struct watch_node *node)
{
    const struct watch_sample *newest = watch_newest(node);

    for (size_t i = 0; newest && !isnan(node->quiet_since_s) && i < newest->rail_count; i++)
        if (newest->rails[i].is_partial)
            return true;
    return false;
}

static double rail_bytes(const struct watch_rail *rail)
{
    return rail->sent_bytes + rail->received_bytes;
}

double watch_rail_mbps(const struct watch_node *node, const struct watch_rail *rail)
{
    const struct watch_rail *before = watch_rail_find(watch_recent(node), rail->name);

    return before && !rail->is_partial
               ? 8e-6 * watch_rate(node, rail_bytes(before), rail_bytes(rail))
               : NAN;
}

/* Returns the traffic of all rails between the last two samples, in 10^6 bit/s; NAN if a counter
 * could not be read. */
static double last_mbps(const struct watch_node *node)
{
    const struct watch_sample *newest = watch_sample_at(node, 0),
                              *before = watch_sample_at(node, 1);
    double bytes = 0;

    for (size_t i = 0; before && i < newest->rail_count; i++) {
        const struct watch_rail *rail = watch_rail_find(before, newest->rails[i].name);

        double more = rail ? rail_bytes(&newest->rails[i]) - rail_bytes(rail) : 0;

        bytes += more < 0 ? 0 : more; /* NAN stays */
    }
    return before && newest->time_s > before->time_s
               ? 8e-6 * bytes / (newest->time_s - before->time_s)
               : 0;
}

static void ras_note(struct watch *watch, size_t node, const struct ras *ras, double now_s)
{
    struct watch_ras *last = &watch->ras, now = {.node = node, .since_s = now_s, .seen_s = now_s};

    for (size_t i = 0; i < ras->comm_count; i++) {
        now.total += ras->comms[i].total;
        now.missing += ras->comms[i].missing_count;
        now.behind += ras->comms[i].behind_count;
    }
    if (!isnan(last->since_s) && now.total == last->total && now.missing == last->missing &&
        now.behind == last->behind)
        now.since_s = last->since_s;
    *last = now;
}

/* Notes that a sample has the rank; if memory is out, it is not kept. */
static void rank_note(struct watch_node *node, const struct watch_rank *rank, double now_s)
{
    size_t k = 0;

    while (k < node->seen_count &&
           (node->seen[k].step != rank->step || node->seen[k].rank != rank->rank))
        k++;
    if (k == node->seen_count) {
        if (!GROW(node->seen, node->seen_count))
            return;
        node->seen_count++;
    }
    node->seen[k] = (struct watch_seen){
        .step = rank->step, .rank = rank->rank, .pid = rank->pid, .seen_s = now_s};
}

void watch_add(struct watch *watch, size_t index, struct watch_sample *sample, double now_s)
{
    struct watch_node *node = &watch->nodes[index];
    struct watch_sample *place = &node->window[node->count % WATCH_WINDOW];
    double last_s = node->count > 0 ? node->times_s[(node->count - 1) % WATCH_WINDOW] : now_s, mbps;
    bool was_silent = now_s - last_s > watch_silence_s(watch);

    if (node->count > 0 && sample->time_s <= watch_newest(node)->time_s) {
        watch_sample_clear(sample); /* a duplicate */
        return;
    }
    watch_sample_clear(place);
    *place = *sample;
    *sample = (struct watch_sample){0};
    node->times_s[node->count % WATCH_WINDOW] = now_s;
    node->count++;
    node->kept += node->kept < WATCH_WINDOW;
    while (node->kept > WATCH_LEAST &&
           place->time_s - watch_oldest(node)->time_s > 2 * WATCH_FLOWS_S)
        watch_sample_clear(&node->window[(node->count - node->kept--) % WATCH_WINDOW]);
    watch->has_samples = true;
    for (size_t k = 0; k < place->rank_count; k++)
        rank_note(node, &place->ranks[k], now_s);
    if (was_silent) {
        /* no pause: Slurm may have suspended the job and the step of the watch */
        node->quiet_since_s += now_s - last_s; /* NAN stays so */
        if (watch->ras.node == index)
            watch->ras.since_s = NAN;
    }
    if (place->ras.is_answered)
        ras_note(watch, index, &place->ras, now_s);
    mbps = node->count < 2 ? NAN : last_mbps(node);
    if (isnan(mbps))
        return;
    if (mbps < WATCH_QUIET_MBPS) {
        if (isnan(node->quiet_since_s))
            node->quiet_since_s = was_silent ? now_s : last_s;
        return;
    }
    if (node->has_moved && now_s - node->quiet_since_s > node->longest_quiet_s)
        node->longest_quiet_s = now_s - node->quiet_since_s;
    if (!node->has_moved || place->unread_bytes < node->least_unread_bytes)
        node->least_unread_bytes = place->unread_bytes;
    node->has_moved = true;
    node->quiet_since_s = NAN;
}
