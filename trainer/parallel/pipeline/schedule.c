/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/parallel/pipeline/schedule.h"

int schedule_held(int stage, int stages, int microbatches)
{
    return stages - stage < microbatches ? stages - stage : microbatches;
}

void schedule_fill(int stage, int stages, int microbatches, struct pipeline_action *actions)
{
    int ahead = schedule_held(stage, stages, microbatches) - 1;
    int forwards = 0, backwards = 0;

    while (backwards < microbatches) {
        if (forwards < microbatches && forwards - backwards <= ahead)
            *actions++ = (struct pipeline_action){PIPELINE_FORWARD, forwards++};
        else
            *actions++ = (struct pipeline_action){PIPELINE_BACKWARD, backwards++};
    }
}
