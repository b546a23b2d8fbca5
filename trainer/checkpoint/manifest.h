/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MANIFEST_H
#define MUSTER_MANIFEST_H

#include "trainer/checkpoint/checkpoint.h"

/* The text that says what a checkpoint is and which files it is made of. */

enum { MANIFEST_SHARDS = 65536 };

struct manifest_shard {
    size_t first, count; /* elements */
    uint32_t crc;        /* of the file */
    char file[32];
};

struct manifest {
    struct checkpoint_problem problem;
    long step;
    struct manifest_shard *shards; /* malloc'd, in the order of elements */
    size_t shard_count;
};

/* Writes the text; malloc'd, the caller frees. NULL when memory is out. */
char *manifest_format(const struct manifest *manifest);

/* Reads the text. Returns 0, or -1 with err "line N: ..." for one that is cut short, altered, or
 * whose shards are not just the model's elements. To be cleared after 0. */
int manifest_parse(const char *text, struct manifest *manifest, struct error *err);
void manifest_clear(struct manifest *manifest);

/* 0, or -1 with err "was written with --batch=4, this run has --batch=8". */
int manifest_compare(const struct manifest *manifest, const struct checkpoint_problem *problem,
                     struct error *err);

#endif
