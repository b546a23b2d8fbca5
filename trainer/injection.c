/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/injection.h"

#include <stdio.h>
#include <string.h>

int injection_parse(const char *text, struct injection *injection, struct error *err)
{
    static const char *const names[] = {[INJECT_NAN] = "nan",
                                        [INJECT_FLIP] = "flip",
                                        [INJECT_ROT] = "rot",
                                        [INJECT_WRONG] = "wrong"};
    char name[8];
    int used = 0;

    if (sscanf(text, "%7[a-z]:%d@%ld%n", name, &injection->rank, &injection->step, &used) == 3 &&
        !text[used])
        for (int kind = INJECT_NAN; kind <= INJECT_WRONG; kind++)
            if (strcmp(names[kind], name) == 0) {
                injection->kind = (enum injection_kind)kind;
                return 0;
            }
    return error_set(
        err, "--inject: expected nan, flip, rot or wrong followed by :RANK@STEP; found \"%s\"",
        text);
}

/* The unit that is corrupted: layer 0, in a pipeline the first layer of the rank's stage. */
static int unit_of(const struct training *training)
{
    return pipeline_stage(training->pipeline)->first + 1;
}

/* Corrupts the first parameter of fcw in that layer, or of this rank's part of the layer: flips a
 * bit, or adds 1. */
static void corrupt(const struct training *training, bool is_bit)
{
    const struct shard *shard = training->shard;
    const struct shape *shape = &training->options->shape;
    size_t at = shape_unit_offset(shape, unit_of(training)) + shape_tensor_offset(shape, FCW);
    const struct checkpoint_state *piece =
        &shard->loads[shard->piece_count == 1 ? 0 : unit_of(training)];
    real *parameter = piece->parameters;

    if (at >= piece->first && at < piece->first + piece->count)
        parameter += at - piece->first;
    if (is_bit)
        *(unsigned char *)parameter ^= 1;
    else
        *parameter += 1;
}

void injection_apply(const struct injection *injection, enum injection_time moment,
                     struct training *training)
{
    /* the step that is about to be made, or the one that was */
    long step = training->step - (moment != INJECT_BEFORE_STEP);

    if (injection->kind == INJECT_NOTHING ||
        injection->rank != comm_rank_info(training->comm).rank || injection->step != step)
        return;
    if (injection->kind == INJECT_NAN && moment == INJECT_BEFORE_STEP)
        guard_inject(&training->guard, unit_of(training), FCW);
    if (((injection->kind == INJECT_FLIP || injection->kind == INJECT_WRONG) &&
         moment == INJECT_AFTER_UPDATE) ||
        (injection->kind == INJECT_ROT && moment == INJECT_AFTER_STEP))
        corrupt(training, injection->kind != INJECT_WRONG);
}
