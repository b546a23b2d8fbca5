/* SPDX-License-Identifier: Apache-2.0 */
/* In place of the others where configure found no libibverbs. */
#include "config.h"

#include "validate/battery/verbs/verbs_pair.h"

const char *verbs_missing(void)
{
    return "muster-links was built without libibverbs; install libibverbs-dev (rdma-core-devel) "
           "and rebuild it";
}

int verbs_pair_run(struct pair_run *pair_run, const struct verbs_settings *settings)
{
    (void)pair_run;
    (void)settings;
    return 0;
}

void verbs_local_run(struct program *program, const struct rails *rails, int round,
                     const struct path_plan *plan, const struct verbs_settings *settings,
                     struct link_results *results)
{
    (void)program;
    (void)rails;
    (void)round;
    (void)plan;
    (void)settings;
    (void)results;
}
