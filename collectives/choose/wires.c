/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses how numbers travel: as they are, or coded without loss. */
#include "config.h"

#include "collectives/choose/chooser_parts.h"

#include <math.h>

#include "lib/constants/collectives_constants.h"

/* Whether one message of the algorithm over the farthest link is faster coded: the overlap of many
 * messages may not make up for a slower hop. */
static bool wins_hop(const struct chooser *chooser, const struct plan_shape *shape,
                     enum element_type type, const struct algorithm *algorithm)
{
    struct algorithm_cost cost = algorithm->cost(shape);
    enum link_class class = layout_farthest(chooser->layout);
    size_t bytes = cost.messages > 0 ? (size_t)(cost.bytes / cost.messages) : 0;
    size_t segment = shape->segment * shape->element_bytes;

    if (segment > 0 && bytes > segment)
        bytes = segment;
    return machine_lossless_us(chooser->machine, class, wire_codec(type), bytes) <
           CHOICE_WORTH_CODING * machine_link_us(chooser->machine, class, bytes);
}

static bool can_code(const struct chooser *chooser, enum element_type type)
{
    return wire_applies(WIRE_LOSSLESS, type) &&
           machine_has_codec(chooser->machine, wire_codec(type));
}

static struct wire_choice choose_wire(const struct chooser *chooser, struct plan_shape shape,
                                      enum element_type type, const struct algorithm *algorithm)
{
    struct wire_choice choice = {WIRE_AS_IS, chooser_predict(chooser, algorithm, &shape, type), -1};

    shape.wire = WIRE_LOSSLESS;
    if (!can_code(chooser, type) || !algorithm_applies(algorithm, &shape))
        return choice;
    choice.lossless_us = chooser_predict(chooser, algorithm, &shape, type);
    if (choice.lossless_us < CHOICE_WORTH_CODING * choice.as_is_us &&
        wins_hop(chooser, &shape, type, algorithm))
        choice.wire = WIRE_LOSSLESS;
    if (isnan(choice.lossless_us))
        choice.as_is_us = NAN;
    return choice;
}

/* Picks the best choice as it is, or the best coded one if that is faster. Compares measured times
 * if the choice as it is was measured, else predicted ones. If it was measured and no coded choice
 * was, predicts whether the same algorithm is faster coded. */
static struct cached_choice pick_both(struct chooser *chooser, const struct plan_shape *shape,
                                      enum element_type type, size_t bytes)
{
    struct cached_choice made = {.choice = chooser_pick_typical(chooser, shape, type)};
    bool is_tried = made.choice.measured_us > 0;
    double as_is_us = is_tried ? made.choice.measured_us : made.choice.predicted_us;
    struct plan_shape coded = chooser_typical_shape(chooser, shape, bytes);
    struct choice choices[CHOICES], best = {NULL};
    unsigned count;

    made.wire = (struct wire_choice){WIRE_AS_IS, as_is_us, -1};
    if (!can_code(chooser, type) || isnan(made.choice.predicted_us))
        return made;
    coded.wire = WIRE_LOSSLESS;
    count = chooser_list_typical(chooser, &coded, type, choices);
    if (count > 0 && isnan(choices[0].predicted_us)) {
        made.choice = choices[0];
        return made;
    }
    for (unsigned i = 0; i < count && best.algorithm == NULL; i++) {
        coded.segment = choices[i].segment_bytes / coded.element_bytes;
        if (is_tried ? choices[i].measured_us > 0
                     : wins_hop(chooser, &coded, type, choices[i].algorithm))
            best = choices[i];
    }
    if (best.algorithm != NULL) {
        made.wire.lossless_us = is_tried ? best.measured_us : best.predicted_us;
        if (made.wire.lossless_us < CHOICE_WORTH_CODING * as_is_us) {
            made.choice = best;
            made.wire.wire = WIRE_LOSSLESS;
        }
    } else if (is_tried && made.choice.algorithm != NULL) {
        coded.wire = WIRE_AS_IS;
        coded.segment = made.choice.segment_bytes / coded.element_bytes;
        made.wire = choose_wire(chooser, coded, type, made.choice.algorithm);
        if (isnan(made.wire.as_is_us))
            made.choice.predicted_us = NAN;
    }
    return made;
}

struct choice chooser_pick_wire(struct chooser *chooser, const struct plan_shape *shape,
                                enum element_type type, struct wire_choice *wire)
{
    unsigned number = chooser_size_number(shape);
    struct cached_choice *cached = chooser_cached(&chooser->cached[shape->kind][type][CACHED_BOTH],
                                                  shape, number),
                         made;
    struct plan_shape as_is = *shape;

    as_is.wire = WIRE_AS_IS;
    if (cached != NULL && cached->is_known) {
        made = *cached;
    } else {
        made = pick_both(chooser, &as_is, type, chooser_size_middle(number));
        made.is_known = !isnan(made.choice.predicted_us);
        if (cached != NULL)
            *cached = made;
    }
    *wire = made.wire;
    as_is.wire = made.wire.wire;
    chooser_make_apply(&made.choice, &as_is);
    return made.choice;
}

struct wire_choice chooser_wire(struct chooser *chooser, const struct plan_shape *shape,
                                enum element_type type, const struct algorithm *algorithm,
                                size_t segment_bytes)
{
    unsigned number = chooser_size_number(shape);
    struct cached_choice *cached =
        chooser_cached(&chooser->cached[shape->kind][type][CACHED_WIRE], shape, number);
    struct plan_shape typical;
    struct wire_choice wire;

    if (cached != NULL && cached->choice.algorithm == algorithm &&
        cached->choice.segment_bytes == segment_bytes)
        return cached->wire;
    typical = chooser_typical_shape(chooser, shape, chooser_size_middle(number));
    typical.wire = WIRE_AS_IS;
    typical.segment = segment_bytes / shape->element_bytes;
    wire = choose_wire(chooser, typical, type, algorithm);
    if (cached != NULL && !isnan(wire.as_is_us))
        *cached = (struct cached_choice){.choice = {algorithm, segment_bytes}, .wire = wire};
    return wire;
}

void chooser_explain_wire(const struct plan_shape *shape, const struct choice *choice,
                          const struct wire_choice *wire, FILE *stream)
{
    fprintf(stream, "%-14s %10zu  %-20s %8zu %12.1f", collective_kind_name(shape->kind),
            chooser_bytes(shape), choice->algorithm != NULL ? choice->algorithm->name : "mpi",
            choice->segment_bytes, wire->as_is_us);
    if (wire->lossless_us >= 0)
        fprintf(stream, " %12.1f", wire->lossless_us);
    else
        fprintf(stream, " %12s", "-");
    fprintf(stream, "  %s\n", wire_name(wire->wire));
}
