/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/parallel/gathered.h"

#include <stdlib.h>

struct use {
    int unit;
    int slot; /* -1: not begun, or released */
    struct collective_request *pending;
};

struct gathered {
    struct gathered_options options;
    struct shard_bytes *bytes;
    struct use *uses; /* of a walk, in order */
    int use_count;
    int begun, taken; /* how many uses were begun, were taken */
    int window;
    real **slots; /* [window] */
    bool *is_busy;
    size_t live_bytes;
};

static size_t unit_elements(const struct gathered *gathered, int unit)
{
    const size_t *at = gathered->options.part_at;

    return (at[unit + 1] - at[unit]) * (size_t)comm_rank_info(gathered->options.comm).ranks;
}

static int allocate_slots(struct gathered *gathered, struct error *err)
{
    size_t largest = 0;

    for (int unit = 0; unit < gathered->options.units; unit++)
        if (unit_elements(gathered, unit) > largest)
            largest = unit_elements(gathered, unit);
    for (int slot = 0; slot < gathered->window; slot++)
        if (!(gathered->slots[slot] = shard_alloc(largest, &gathered->bytes->working, err)))
            return -1;
    return 0;
}

int gathered_create(const struct gathered_options *options, struct shard_bytes *bytes,
                    struct gathered **gathered, struct error *err)
{
    struct gathered *made = calloc(1, sizeof *made);
    /* the most uses of one walk: units, unit 0 again, layers again */
    size_t uses = 2 * (size_t)options->units;

    if (!made)
        return error_set(err, "cannot allocate gathered parameters: %m");
    made->options = *options;
    made->bytes = bytes;
    made->window = options->window > 0 && options->window < (int)uses ? options->window : (int)uses;
    made->uses = calloc(uses, sizeof *made->uses);
    made->slots = calloc((size_t)made->window, sizeof *made->slots);
    made->is_busy = calloc((size_t)made->window, sizeof *made->is_busy);
    if (!made->uses || !made->slots || !made->is_busy) {
        error_set(err, "cannot allocate gathered parameters: %m");
        gathered_destroy(made);
        return -1;
    }
    if (allocate_slots(made, err) != 0) {
        gathered_destroy(made);
        return -1;
    }
    *gathered = made;
    return 0;
}

void gathered_destroy(struct gathered *gathered)
{
    if (!gathered)
        return;
    for (int slot = 0; gathered->slots && slot < gathered->window; slot++)
        free(gathered->slots[slot]);
    free(gathered->slots);
    free(gathered->is_busy);
    free(gathered->uses);
    free(gathered);
}

static int free_slot(const struct gathered *gathered)
{
    for (int slot = 0; slot < gathered->window; slot++)
        if (!gathered->is_busy[slot])
            return slot;
    return -1;
}

/* Begins gathers while the window has a free slot. */
static void slide(struct gathered *gathered)
{
    const struct gathered_options *options = &gathered->options;

    for (; gathered->begun < gathered->use_count; gathered->begun++) {
        struct use *use = &gathered->uses[gathered->begun];
        int slot = free_slot(gathered);

        if (slot < 0)
            return;
        gathered->is_busy[slot] = true;
        use->slot = slot;
        use->pending = comm_start_all_gather(
            options->comm, options->parts + options->part_at[use->unit],
            options->part_at[use->unit + 1] - options->part_at[use->unit], gathered->slots[slot]);
        gathered->live_bytes += unit_elements(gathered, use->unit) * sizeof(real);
        if (gathered->live_bytes > gathered->bytes->gathered_peak)
            gathered->bytes->gathered_peak = gathered->live_bytes;
    }
}

static void will_use(struct gathered *gathered, int unit)
{
    gathered->uses[gathered->use_count++] = (struct use){.unit = unit, .slot = -1};
}

void gathered_begin(struct gathered *gathered, bool trains)
{
    gathered->use_count = gathered->begun = gathered->taken = 0;
    for (int unit = 0; unit < gathered->options.units; unit++)
        will_use(gathered, unit);
    will_use(gathered, 0);
    for (int unit = gathered->options.units - 1; trains && unit > 0; unit--)
        will_use(gathered, unit);
    slide(gathered);
}

const real *gathered_take(struct gathered *gathered, int unit)
{
    struct use *use = &gathered->uses[gathered->taken++];

    if (use->unit != unit || use->slot < 0)
        abort(); /* the model's walk differs from the known order */
    comm_wait(gathered->options.comm, use->pending);
    return gathered->slots[use->slot];
}

void gathered_release(struct gathered *gathered, int unit)
{
    struct use *use = &gathered->uses[gathered->taken - 1];

    if (use->unit != unit)
        abort();
    gathered->is_busy[use->slot] = false;
    use->slot = -1;
    gathered->live_bytes -= unit_elements(gathered, unit) * sizeof(real);
    slide(gathered);
}
