/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/plant.h"

#include <stdio.h>
#include <string.h>

#include "trainer/parallel/guard.h"

int plant_parse(const char *text, struct plant *plant, struct error *err)
{
    static const char *const names[] = {
        [PLANT_NAN] = "nan", [PLANT_FLIP] = "flip", [PLANT_ROT] = "rot", [PLANT_WRONG] = "wrong"};
    char name[8];
    int used = 0;

    if (sscanf(text, "%7[a-z]:%d@%ld%n", name, &plant->rank, &plant->step, &used) == 3 &&
        !text[used])
        for (int kind = PLANT_NAN; kind <= PLANT_WRONG; kind++)
            if (strcmp(names[kind], name) == 0) {
                plant->kind = (enum plant_kind)kind;
                return 0;
            }
    return error_set(err,
                     "--inject: expected nan, flip, rot or wrong, then :RANK@STEP, "
                     "found \"%s\"",
                     text);
}

/* The unit that is spoilt: layer 0, of a pipeline the first of the rank's stage. */
static int unit_of(const struct training *training)
{
    return pipeline_stage(training->pipeline)->first + 1;
}

/* The piece that holds the beginning of fcw in that layer, or this rank's part of the layer. */
static void spoil(const struct training *training, bool is_bit)
{
    enum { PIECES = 64 };
    const struct holding *holding = training->holding;
    const struct shape *shape = &training->options->shape;
    struct checkpoint_state pieces[PIECES];
    size_t count = holding->scheme->pieces(holding, true, NULL);
    size_t at = shape_unit_offset(shape, unit_of(training)) + shape_tensor_offset(shape, FCW);
    const struct checkpoint_state *piece;
    real *parameter;

    if (count > PIECES)
        return;
    holding->scheme->pieces(holding, true, pieces);
    piece = count == 1 ? &pieces[0] : &pieces[unit_of(training)];
    parameter = piece->parameters;
    if (at >= piece->first && at < piece->first + piece->count)
        parameter += at - piece->first;
    if (is_bit)
        *(unsigned char *)parameter ^= 1;
    else
        *parameter += 1;
}

void plant_strike(const struct plant *plant, enum plant_moment moment, struct training *training)
{
    /* the step that is about to be made, or the one that was */
    long step = training->step - (moment != PLANT_BEFORE_STEP);

    if (plant->kind == PLANT_NOTHING || plant->rank != team_seat(training->team).rank ||
        plant->step != step)
        return;
    if (plant->kind == PLANT_NAN && moment == PLANT_BEFORE_STEP)
        guard_plant(training->guard, unit_of(training), FCW);
    if (((plant->kind == PLANT_FLIP || plant->kind == PLANT_WRONG) &&
         moment == PLANT_AFTER_UPDATE) ||
        (plant->kind == PLANT_ROT && moment == PLANT_AFTER_STEP))
        spoil(training, plant->kind != PLANT_WRONG);
}
