/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LOCALIZATION_VERBS_RETEST_H
#define MUSTER_LOCALIZATION_VERBS_RETEST_H

#include <stdbool.h>

#include "validate/localization/localization.h"

/* What libibverbs says of two ports: that a message did not arrive, or that they cannot talk. The
 * other bandwidths of the battery are judged with the links. */
bool verbs_is_failure(const struct record *record);

/* What a retest says of a node of which messages did not arrive. */
enum verbs_retest {
    VERBS_NOT_RETESTED, /* or with no good partner */
    VERBS_NO_CONTROL,   /* no pair of others */
    VERBS_CONTROL_TOO,  /* messages of a pair of others do not arrive either */
    VERBS_NOT_AGAIN,    /* they arrived at one of the times, or with one of its good partners */
    VERBS_ACROSS_ONLY,  /* not again, but with no good partner on its own leaf switch */
    VERBS_CONFIRMED,
};

/* Measures the suspects by libibverbs once more, each alone with partners that nobody suspects, by
 * turns with control pairs. is_suspect and retests: of the localization's nodes. Returns 0, or -1
 * when memory is out: then none is confirmed. */
int verbs_retest(const struct localization *localization, const bool *is_suspect,
                 enum verbs_retest *retests);

#endif
