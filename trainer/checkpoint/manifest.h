/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MANIFEST_H
#define MUSTER_MANIFEST_H

#include "trainer/checkpoint/checkpoint.h"

/* The text that describes a checkpoint and names its files. */

enum {
    MANIFEST_SHARDS = 65536,
    MANIFEST_PIECES = 1 << 24,
    MANIFEST_LINE_BYTES = 50, /* "piece", two numbers of 20 digits; "shard", a file, a sum */
    MANIFEST_BYTES = MANIFEST_LINE_BYTES * (MANIFEST_SHARDS + MANIFEST_PIECES + 100)
};

struct manifest_piece {
    size_t first, count; /* elements */
};

struct manifest_shard {
    uint32_t crc; /* of the file */
    char file[32];
    size_t first_piece, piece_count; /* in the manifest's pieces */
};

struct manifest {
    struct checkpoint_problem problem;
    long step;
    struct manifest_shard *shards; /* malloc'd */
    size_t shard_count;
    struct manifest_piece *pieces; /* malloc'd, shard after shard, as they lie in the files */
    size_t piece_count;
};

/* Add a piece to the last shard, unless it is empty, and a shard without pieces. Return 0, or -1 if
 * memory is out or a limit is reached: the text has at most MANIFEST_BYTES. */
int manifest_add_piece(struct manifest *manifest, size_t first, size_t count);
int manifest_add_shard(struct manifest *manifest, const char *file, uint32_t crc);

/* Returns the text, which the caller frees, or NULL if memory is out. */
char *manifest_format(const struct manifest *manifest);

/* Parses the text. Returns 0, or -1 with err if it is truncated, altered, or its pieces are not
 * exactly the model's elements. The caller clears the manifest after 0. */
int manifest_parse(const char *text, struct manifest *manifest, struct error *err);
void manifest_clear(struct manifest *manifest);

/* Returns 0, or -1 with err "was written with --batch=4, this run has --batch=8". */
int manifest_compare(const struct manifest *manifest, const struct checkpoint_problem *problem,
                     struct error *err);

#endif
