/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/checkpoint/manifest.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/codec/crc32c.h"
#include "lib/base/grow.h"
#include "lib/base/memory_stream.h"

#define TITLE "muster checkpoint 2"

/* The lines that describe the problem: one table writes, reads and compares them. */
struct line {
    const char *name; /* the option's */
    enum { LINE_INT, LINE_SEED, LINE_FLAG } kind;
    size_t offset; /* in struct checkpoint_problem */
};

#define FIELD(member) offsetof(struct checkpoint_problem, member)

static const struct line lines[] = {
    {"layers", LINE_INT, FIELD(shape.layers)},
    {"heads", LINE_INT, FIELD(shape.heads)},
    {"channels", LINE_INT, FIELD(shape.channels)},
    {"context", LINE_INT, FIELD(shape.context)},
    {"vocab", LINE_INT, FIELD(shape.vocabulary)},
    {"batch", LINE_INT, FIELD(batch)},
    {"seed-weights", LINE_SEED, FIELD(weights_seed)},
    {"seed-data", LINE_SEED, FIELD(data_seed)},
    {"data-checksum", LINE_SEED, FIELD(data_checksum)},
    {"fixed-batch", LINE_FLAG, FIELD(is_batch_fixed)},
};
enum { LINES = sizeof lines / sizeof *lines };

static uint64_t value_of(const struct checkpoint_problem *problem, const struct line *line)
{
    const char *field = (const char *)problem + line->offset;

    switch (line->kind) {
    case LINE_INT:
        return (uint64_t) * (const int *)field;
    case LINE_SEED:
        return *(const uint64_t *)field;
    default:
        return *(const bool *)field;
    }
}

/* Sets a field. Returns false if the field cannot have the value. */
static bool set_value(struct checkpoint_problem *problem, const struct line *line, uint64_t value)
{
    char *field = (char *)problem + line->offset;

    switch (line->kind) {
    case LINE_INT:
        *(int *)field = (int)value;
        return value > 0 && value <= 1 << 24;
    case LINE_SEED:
        *(uint64_t *)field = value;
        return true;
    default:
        *(bool *)field = value != 0;
        return value <= 1;
    }
}

char *manifest_format(const struct manifest *manifest)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = memory_stream(&text, &length);
    uint32_t crc;

    if (!stream)
        return NULL;
    fprintf(stream, TITLE "\nstep %ld\n", manifest->step);
    for (int i = 0; i < LINES; i++)
        fprintf(stream, "%s %" PRIu64 "\n", lines[i].name, value_of(&manifest->problem, &lines[i]));
    for (size_t i = 0; i < manifest->shard_count; i++) {
        const struct manifest_shard *shard = &manifest->shards[i];
        const struct manifest_piece *pieces = manifest->pieces + shard->first_piece;

        fprintf(stream, "shard %s %08" PRIx32 "\n", shard->file, shard->crc);
        for (size_t j = 0; j < shard->piece_count; j++)
            fprintf(stream, "piece %zu %zu\n", pieces[j].first, pieces[j].count);
    }
    fflush(stream);
    crc = crc32c(0, text, length);
    fprintf(stream, "end %08" PRIx32 "\n", crc);
    fclose(stream);
    return text;
}

/* Checks the last line, which has the checksum of the text before it. */
static int check_end(const char *text, struct error *err)
{
    const char *end = strstr(text, "\nend ");
    uint32_t crc;
    int used = 0;

    if (!end || sscanf(end, "\nend %8" SCNx32 "%n", &crc, &used) != 1 || used != 13 ||
        strcmp(end + used, "\n") != 0)
        return error_set(err, "truncated: the last line, \"end\" and a checksum, is missing");
    if (crc != crc32c(0, text, (size_t)(end + 1 - text)))
        return error_set(err, "corrupt: the checksum differs from the one in the last line");
    return 0;
}

int manifest_add_shard(struct manifest *manifest, const char *file, uint32_t crc)
{
    struct manifest_shard *more;

    if (manifest->shard_count == MANIFEST_SHARDS)
        return -1;
    if (!GROW(manifest->shards, manifest->shard_count))
        return -1;
    more = &manifest->shards[manifest->shard_count++];
    *more = (struct manifest_shard){.crc = crc, .first_piece = manifest->piece_count};
    snprintf(more->file, sizeof more->file, "%s", file);
    return 0;
}

int manifest_add_piece(struct manifest *manifest, size_t first, size_t count)
{
    if (manifest->shard_count == 0)
        return -1;
    if (count == 0)
        return 0;
    if (manifest->piece_count == MANIFEST_PIECES)
        return -1;
    if (!GROW(manifest->pieces, manifest->piece_count))
        return -1;
    manifest->pieces[manifest->piece_count++] = (struct manifest_piece){first, count};
    manifest->shards[manifest->shard_count - 1].piece_count++;
    return 0;
}

static int parse_shard(const char *line, struct manifest *manifest)
{
    char file[32];
    uint32_t crc;
    size_t first, count;

    if (sscanf(line, "piece %zu %zu", &first, &count) == 2)
        return manifest_add_piece(manifest, first, count);
    if (sscanf(line, "shard %31s %8" SCNx32, file, &crc) != 2 || strchr(file, '/') ||
        file[0] == '.')
        return -1;
    return manifest_add_shard(manifest, file, crc);
}

/* Parses line `number`, counted from 0. */
static int parse_line(const char *line, int number, struct manifest *manifest)
{
    char name[32];
    uint64_t value;

    if (number == 0)
        return strncmp(line, TITLE "\n", sizeof TITLE) == 0 ? 0 : -1;
    if (number == 1)
        return sscanf(line, "step %ld", &manifest->step) == 1 && manifest->step >= 0 ? 0 : -1;
    if (number >= 2 + LINES)
        return parse_shard(line, manifest);
    return sscanf(line, "%31s %" SCNu64, name, &value) == 2 &&
                   strcmp(name, lines[number - 2].name) == 0 &&
                   set_value(&manifest->problem, &lines[number - 2], value)
               ? 0
               : -1;
}

static int by_first(const void *a, const void *b)
{
    const struct manifest_piece *one = a, *other = b;

    return one->first != other->first ? (one->first > other->first) - (one->first < other->first)
                                      : (one->count > other->count) - (one->count < other->count);
}

/* Whether the pieces contain each of the model's elements exactly once. */
static bool is_complete(const struct manifest *manifest)
{
    size_t next = 0, bytes = manifest->piece_count * sizeof *manifest->pieces;
    struct manifest_piece *sorted = malloc(bytes + 1);
    bool holds = sorted != NULL;

    if (sorted && bytes > 0) {
        memcpy(sorted, manifest->pieces, bytes);
        qsort(sorted, manifest->piece_count, sizeof *sorted, by_first);
    }
    for (size_t i = 0; holds && i < manifest->piece_count; i++) {
        holds = sorted[i].first == next &&
                sorted[i].count <= shape_parameters(&manifest->problem.shape) - next;
        next += sorted[i].count;
    }
    free(sorted);
    return holds && next == shape_parameters(&manifest->problem.shape);
}

static int parse_lines(const char *text, struct manifest *manifest, struct error *err)
{
    int number = 0;

    for (const char *from = text; strncmp(from, "end ", 4) != 0; number++) {
        size_t length = strcspn(from, "\n") + 1;
        char line[MANIFEST_LINE_BYTES + 1]; /* a copy: sscanf() scans to the end of the text */

        snprintf(line, sizeof line, "%.*s", (int)length, from);
        if (length >= sizeof line || parse_line(line, number, manifest) != 0)
            return error_set(err, "line %d: unexpected \"%.*s\"", number + 1, (int)length - 1,
                             from);
        from += length;
    }
    if (shape_check(&manifest->problem.shape, err) != 0)
        return -1;
    if (!is_complete(manifest))
        return error_set(err,
                         "the pieces do not contain each of the %zu model parameters exactly once",
                         shape_parameters(&manifest->problem.shape));
    return 0;
}

int manifest_parse(const char *text, struct manifest *manifest, struct error *err)
{
    *manifest = (struct manifest){.shards = NULL};
    if (check_end(text, err) == 0 && parse_lines(text, manifest, err) == 0)
        return 0;
    manifest_clear(manifest);
    return -1;
}

void manifest_clear(struct manifest *manifest)
{
    free(manifest->shards);
    free(manifest->pieces);
    *manifest = (struct manifest){.shards = NULL};
}

int manifest_compare(const struct manifest *manifest, const struct checkpoint_problem *problem,
                     struct error *err)
{
    for (int i = 0; i < LINES; i++) {
        uint64_t then = value_of(&manifest->problem, &lines[i]);
        uint64_t now = value_of(problem, &lines[i]);

        if (then == now)
            continue;
        if (lines[i].offset == FIELD(data_checksum))
            return error_set(err, "was written with different --data than this run");
        if (lines[i].kind == LINE_FLAG)
            return error_set(err, "was written with%s --%s, this run is with%s", then ? "" : "out",
                             lines[i].name, now ? "" : "out");
        return error_set(err, "was written with --%s=%" PRIu64 ", this run has --%s=%" PRIu64,
                         lines[i].name, then, lines[i].name, now);
    }
    return 0;
}
