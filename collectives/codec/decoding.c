/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/codec/block.h"

static const char *const mode_names[] = {"stored", "fill", "single", "coded"};

/* A block's header and the parts of its content. */
struct layout {
    struct codec_block_info info;
    enum mode mode;
    size_t tail_bytes;
    size_t kept;
    const uint8_t *content;
    const uint8_t *raw, *raw_end; /* without the raw bytes carried in the states */
    const uint8_t *words_end;     /* the words are from raw_end to here, then come lower halves */
    const uint8_t *tail;          /* frequencies and upper halves of the states, or a symbol */
    const uint8_t *zeros;         /* NULL: no group is of zeros */
};

static int read_header(const uint8_t *block, size_t available, struct layout *layout,
                       struct error *err)
{
    unsigned mode, type;

    memset(layout, 0, sizeof *layout);
    if (available < CODEC_BLOCK_HEADER_BYTES)
        return error_set(err, "truncated block: found %zu bytes, the header alone has %d",
                         available, CODEC_BLOCK_HEADER_BYTES);
    mode = block[AT_MODE] & MODE_MASK;
    type = block[AT_TYPE];
    layout->info.bytes = codec_load32(block + AT_BYTES);
    layout->info.count = codec_load32(block + AT_COUNT);
    layout->tail_bytes = codec_load16(block + AT_TAIL_BYTES);
    if (mode > MODE_CODED || (block[AT_MODE] & ~(MODE_MASK | FLAG_ZEROS)) != 0 ||
        (mode <= MODE_FILL && block[AT_MODE] & FLAG_ZEROS))
        return error_set(err, "block of unknown mode 0x%02x", block[AT_MODE]);
    if (type >= CODEC_TYPES)
        return error_set(err, "block of unknown type %u", type);
    if (layout->info.count > CODEC_BLOCK_ELEMENTS_MAX)
        return error_set(err, "block of %zu elements, expected at most %d", layout->info.count,
                         CODEC_BLOCK_ELEMENTS_MAX);
    layout->content = block + CODEC_BLOCK_HEADER_BYTES;
    layout->info.type = (enum codec_type)type;
    layout->info.mode = mode_names[mode];
    layout->mode = (enum mode)mode;
    if (layout->info.bytes < CODEC_BLOCK_HEADER_BYTES ||
        layout->info.bytes > codec_block_bound(layout->info.type, layout->info.count))
        return error_set(
            err, "block of %zu bytes with %zu elements of %s, expected %d to %zu bytes",
            layout->info.bytes, layout->info.count, codec_type_name((enum codec_type)type),
            CODEC_BLOCK_HEADER_BYTES, codec_block_bound(layout->info.type, layout->info.count));
    return 0;
}

int codec_block_peek(const void *block, size_t available, struct codec_block_info *info,
                     struct error *err)
{
    struct layout layout;

    if (read_header(block, available, &layout, err) != 0)
        return -1;
    *info = layout.info;
    return 0;
}

static bool is_zero_group(const uint8_t *zeros, size_t group)
{
    return zeros && zeros[group / 8] >> group % 8 & 1;
}

/* Finds the parts of a block of mode single or coded. Returns -1 if they do not fit into it. */
static int divide(const uint8_t *block, struct layout *layout, bool has_zeros)
{
    size_t count = layout->info.count, groups = (count + CODEC_GROUP - 1) / CODEC_GROUP;
    size_t left = layout->info.bytes - CODEC_BLOCK_HEADER_BYTES;
    size_t raw_bytes, map_bytes = has_zeros ? zero_map_bytes(count) : 0;

    if (left < map_bytes)
        return -1;
    left -= map_bytes;
    layout->zeros = has_zeros ? block + CODEC_BLOCK_HEADER_BYTES + left : NULL;
    layout->kept = count;
    for (size_t g = 0; g < groups; g++)
        if (is_zero_group(layout->zeros, g))
            layout->kept -=
                count - g * CODEC_GROUP < CODEC_GROUP ? count - g * CODEC_GROUP : CODEC_GROUP;
    if (layout->tail_bytes < 1 || left < layout->tail_bytes)
        return -1;
    left -= layout->tail_bytes;
    layout->tail = block + CODEC_BLOCK_HEADER_BYTES + left;
    raw_bytes = codec_raw_bytes(layout->info.type, layout->kept);
    if (layout->mode == MODE_CODED) {
        if (left < CODEC_LOW_HALVES_BYTES)
            return -1;
        raw_bytes -= carried_bytes(raw_bytes);
        left -= CODEC_LOW_HALVES_BYTES;
    }
    if (left < raw_bytes || (layout->mode == MODE_SINGLE && left != raw_bytes) ||
        (left - raw_bytes) % 2 != 0)
        return -1;
    layout->raw = block + CODEC_BLOCK_HEADER_BYTES;
    layout->raw_end = layout->raw + raw_bytes;
    layout->words_end = layout->raw + left;
    return 0;
}

/* Consecutive groups without a group of zeros between them. */
struct stretch {
    size_t first; /* in the block */
    size_t groups;
};

/* The stretch at or behind group `from`, of at most `most` groups; sets the groups before it to
 * 0. */
static struct stretch next_stretch(const struct layout *layout, size_t from, size_t most,
                                   uint8_t *values)
{
    size_t count = layout->info.count, groups = (count + CODEC_GROUP - 1) / CODEC_GROUP;
    size_t group_bytes = CODEC_GROUP * codec_type_bytes(layout->info.type);
    size_t all_bytes = count * codec_type_bytes(layout->info.type);
    struct stretch stretch = {.first = from};

    if (!layout->zeros) {
        stretch.groups = groups - from < most ? groups - from : most;
        return stretch;
    }
    while (stretch.first < groups && is_zero_group(layout->zeros, stretch.first)) {
        size_t offset = stretch.first * group_bytes;

        memset(values + offset, 0,
               all_bytes - offset < group_bytes ? all_bytes - offset : group_bytes);
        stretch.first++;
    }
    while (stretch.groups < most && stretch.first + stretch.groups < groups &&
           !is_zero_group(layout->zeros, stretch.first + stretch.groups))
        stretch.groups++;
    return stretch;
}

/* Merges count elements from their symbols and raw chunks into the groups from `from` on that are
 * not of zeros, and sets the others to 0. */
static void merge_groups(const struct codec_path *path, const struct layout *layout, size_t from,
                         const uint8_t *symbols, const uint8_t *raw, size_t count, uint8_t *values)
{
    enum codec_type type = layout->info.type;
    size_t all = layout->info.count, groups = (all + CODEC_GROUP - 1) / CODEC_GROUP;

    while (from < groups) {
        struct stretch stretch = next_stretch(layout, from, groups, values);
        size_t begin = stretch.first * CODEC_GROUP, some = stretch.groups * CODEC_GROUP;

        if (stretch.groups == 0)
            break;
        some = some < all - begin ? some : all - begin;
        some = some < count ? some : count;
        path->merge(type, symbols, raw, some, values + begin * codec_type_bytes(type));
        symbols += some;
        raw += codec_raw_bytes(type, some);
        count -= some;
        from = stretch.first + stretch.groups;
    }
}

/* Decodes the last symbols, fewer than a group, going on from states. Returns where the next words
 * are, or NULL if they end too soon. */
static const uint8_t *decode_rest(const uint32_t *table, uint32_t states[CODEC_GROUP],
                                  const uint8_t *words, const uint8_t *words_end, size_t count,
                                  uint8_t *symbols)
{
    for (unsigned lane = 0; lane < CODEC_GROUP; lane++) {
        size_t n = lane % 16 * 4 + lane / 16;
        uint32_t x = states[lane], entry = table[x % CODEC_SCALE];

        if (n >= count)
            continue;
        symbols[n] = (uint8_t)entry;
        x = (entry >> 8 & (CODEC_SCALE - 1)) * (x >> CODEC_PROBABILITY) + (entry >> 20);
        if (x < CODEC_STATE_LOW) {
            if (words >= words_end)
                return NULL;
            x = x << 16 | codec_load16(words);
            words += 2;
        }
        states[lane] = x;
    }
    return words;
}

/* Reads the frequencies and states of a coded block. */
static int read_tail(const struct layout *layout, struct codec_scratch *scratch,
                     uint32_t states[CODEC_GROUP])
{
    struct bits bits = {scratch->tail, 0};

    if (layout->tail_bytes > TAIL_BYTES_MAX)
        return -1;
    memset(scratch->tail, 0, sizeof scratch->tail);
    memcpy(scratch->tail, layout->tail, layout->tail_bytes);
    if (codec_table_read(&bits, layout->info.type == CODEC_FP16 ? 31 : 255, scratch->frequencies) !=
        0)
        return -1;
    for (unsigned lane = 0; lane < CODEC_GROUP; lane++)
        states[lane] = bits_take_number(&bits) << 16 | codec_load16(layout->words_end + 2 * lane);
    return bits_bytes(&bits) == layout->tail_bytes ? 0 : -1;
}

/* Gathers the raw bytes of the last elements: `standing` bytes are stored raw, the others are in
 * the states that are left when all is decoded. Returns -1 if a coder cannot begin with these
 * states. */
static int gather_tail_raw(const struct layout *layout, size_t standing,
                           const uint32_t states[CODEC_GROUP], struct codec_scratch *scratch)
{
    bool carried = carried_bytes(codec_raw_bytes(layout->info.type, layout->kept)) > 0;

    memcpy(scratch->tail_raw, layout->raw_end - standing, standing);
    for (unsigned lane = 0; lane < CODEC_GROUP; lane++) {
        uint32_t x = states[lane];

        if (carried ? x >> 16 != 1 : x != CODEC_STATE_LOW)
            return -1;
        codec_store16(scratch->tail_raw + standing + 2 * lane, (uint16_t)x);
    }
    return 0;
}

/* The number of groups whose raw bytes are all stored raw; others wait for those in the states. */
static size_t ready_groups(const struct layout *layout)
{
    return (size_t)(layout->raw_end - layout->raw) /
           codec_raw_bytes(layout->info.type, CODEC_GROUP);
}

static int begin_coded(const struct codec_path *path, const struct layout *layout,
                       struct codec_scratch *scratch, struct half *half)
{
    struct codec_decoder *decoder = &half->decoder;

    if (read_tail(layout, scratch, half->states) != 0)
        return -1;
    decoder->has_cells =
        path->uses_cells && codec_table_cells(scratch->frequencies, &decoder->cells);
    if (!decoder->has_cells || layout->kept % CODEC_GROUP > 0)
        codec_table_expand(scratch->frequencies, decoder->table);
    return 0;
}

/* Decodes the groups behind the first `done` ones, whose words end at words. done is 0 for blocks
 * with groups of zeros. */
static int finish_coded(const struct codec_path *path, const struct layout *layout, size_t done,
                        const uint8_t *words, struct codec_ahead *ahead,
                        struct codec_scratch *scratch, struct half *half, uint8_t *values)
{
    enum codec_type type = layout->info.type;
    size_t chunk_bytes = codec_raw_bytes(type, CODEC_GROUP);
    size_t raw_bytes = (size_t)(layout->raw_end - layout->raw);
    size_t ready = ready_groups(layout), at = done;
    size_t tail = layout->kept - ready * CODEC_GROUP, tail_groups = tail / CODEC_GROUP;
    const uint8_t *end = layout->words_end;

    while (done < ready) {
        struct stretch stretch = next_stretch(layout, at, ready - done, values);
        size_t offset = stretch.first * CODEC_GROUP * codec_type_bytes(type);

        words =
            path->decode(type, &half->decoder, half->states, words, end,
                         layout->raw + done * chunk_bytes, stretch.groups, values + offset, ahead);
        if (!words)
            return -1;
        done += stretch.groups;
        at = stretch.first + stretch.groups;
    }
    words = path->decode(type, &half->decoder, half->states, words, end, NULL, tail_groups,
                         scratch->symbols, ahead);
    if (words)
        words = decode_rest(half->decoder.table, half->states, words, end, tail % CODEC_GROUP,
                            scratch->symbols + tail_groups * CODEC_GROUP);
    if (words != end)
        return -1;
    if (gather_tail_raw(layout, raw_bytes - ready * chunk_bytes, half->states, scratch) != 0)
        return -1;
    merge_groups(path, layout, at, scratch->symbols, scratch->tail_raw, tail, values);
    return 0;
}

static int decode_coded(const struct codec_path *path, const struct layout *layout,
                        struct codec_ahead *ahead, struct codec_scratch *scratch, uint8_t *values)
{
    struct half *half = &scratch->halves[0];

    if (begin_coded(path, layout, scratch, half) != 0)
        return -1;
    return finish_coded(path, layout, 0, layout->raw_end, ahead, scratch, half, values);
}

static int decode_content(const struct codec_path *path, const struct layout *layout,
                          struct codec_ahead *ahead, struct codec_scratch *scratch, uint8_t *values)
{
    const uint8_t *content = layout->content;
    enum codec_type type = layout->info.type;
    size_t count = layout->info.count, width = codec_type_bytes(type);
    size_t content_bytes = layout->info.bytes - CODEC_BLOCK_HEADER_BYTES;

    switch (layout->mode) {
    case MODE_STORED:
        if (content_bytes != count * width)
            return -1;
        if (content_bytes > 0)
            memcpy(values, content, content_bytes);
        return 0;
    case MODE_FILL:
        if (content_bytes != width)
            return -1;
        for (size_t n = 0; n < count; n++)
            memcpy(values + n * width, content, width);
        return 0;
    case MODE_SINGLE:
        if (layout->tail_bytes != 1 || (type == CODEC_FP16 && *layout->tail > 31))
            return -1;
        memset(scratch->symbols, *layout->tail, layout->kept);
        merge_groups(path, layout, 0, scratch->symbols, layout->raw, layout->kept, values);
        return 0;
    default:
        return decode_coded(path, layout, ahead, scratch, values);
    }
}

static int parts_disagree(const struct layout *layout, struct error *err)
{
    return error_set(err, "inconsistent block of mode %s", layout->info.mode);
}

/* Checks a block of `bytes` bytes and finds its parts. */
static int open_block(const struct codec_path *path, enum codec_type type, const uint8_t *in,
                      size_t bytes, size_t count, struct layout *layout, struct error *err)
{
    uint32_t checksum;

    if (read_header(in, bytes, layout, err) != 0)
        return -1;
    if (layout->info.bytes != bytes)
        return error_set(err, "block of %zu bytes, found only %zu", layout->info.bytes, bytes);
    if (layout->info.type != type || layout->info.count != count)
        return error_set(err, "found a block of %zu elements of %s, expected %zu of %s",
                         layout->info.count, codec_type_name(layout->info.type), count,
                         codec_type_name(type));
    checksum = path->crc(0, in + AT_MODE, bytes - AT_MODE);
    if (checksum != codec_load32(in + AT_CHECKSUM))
        return error_set(err, "corrupt block: checksum is 0x%08x, expected 0x%08x", checksum,
                         codec_load32(in + AT_CHECKSUM));
    if (layout->mode >= MODE_SINGLE && divide(in, layout, in[AT_MODE] & FLAG_ZEROS) != 0)
        return parts_disagree(layout, err);
    return 0;
}

int codec_block_decode(const struct codec_path *path, enum codec_type type, const void *block,
                       size_t bytes, struct codec_scratch *scratch, void *values, size_t count,
                       struct error *err)
{
    struct codec_ahead none = {0};
    struct layout layout;

    if (open_block(path, type, block, bytes, count, &layout, err) != 0)
        return -1;
    if (decode_content(path, &layout, &none, scratch, values) != 0)
        return parts_disagree(&layout, err);
    return 0;
}

/* Opens the next of several blocks, which is in at most `bytes` bytes. `left` elements are left. */
static int open_next(const struct codec_path *path, enum codec_type type, const uint8_t *in,
                     size_t bytes, size_t left, struct layout *layout, struct error *err)
{
    struct codec_block_info info;

    if (codec_block_peek(in, bytes, &info, err) != 0)
        return -1;
    if (info.type != type || info.count != elements_of(left) || info.bytes > bytes)
        return error_set(
            err,
            "found a block of %zu elements of %s in %zu bytes, expected %zu of %s in at most %zu",
            info.count, codec_type_name(info.type), info.bytes, elements_of(left),
            codec_type_name(type), bytes);
    return open_block(path, type, in, info.bytes, info.count, layout, err);
}

static bool can_pair(const struct codec_path *path, const struct layout *layout)
{
    return path->decode_two && layout->mode == MODE_CODED && !layout->zeros;
}

/* Decodes two blocks that can_pair() accepts: groups of both in turn, then the rest of each. */
static int decode_pair(const struct codec_path *path, const struct layout layouts[2],
                       struct codec_ahead *ahead, struct codec_scratch *scratch,
                       uint8_t *const values[2], struct error *err)
{
    struct half *halves = scratch->halves;
    struct codec_run runs[2];
    size_t groups = ready_groups(&layouts[0]), done = 0;

    if (ready_groups(&layouts[1]) < groups)
        groups = ready_groups(&layouts[1]);
    for (int b = 0; b < 2; b++) {
        if (begin_coded(path, &layouts[b], scratch, &halves[b]) != 0)
            return parts_disagree(&layouts[b], err);
        runs[b] = (struct codec_run){
            .decoder = &halves[b].decoder,
            .states = halves[b].states,
            .words = layouts[b].raw_end,
            .words_end = layouts[b].words_end,
            .raw = layouts[b].raw,
            .values = values[b],
        };
    }
    if (halves[0].decoder.has_cells && halves[1].decoder.has_cells) {
        if (!path->decode_two(layouts[0].info.type, runs, groups, ahead))
            return error_set(err, "inconsistent block of mode coded, one of two");
        done = groups;
    }
    for (int b = 0; b < 2; b++)
        if (finish_coded(path, &layouts[b], done, runs[b].words, ahead, scratch, &halves[b],
                         values[b]) != 0)
            return parts_disagree(&layouts[b], err);
    return 0;
}

int codec_blocks_decode(const struct codec_path *path, enum codec_type type, const void *blocks,
                        size_t bytes, struct codec_scratch *scratch, void *values, size_t count,
                        struct error *err)
{
    size_t width = codec_type_bytes(type);
    const uint8_t *in = blocks;
    uint8_t *out = values;

    while (count > 0) {
        struct codec_ahead ahead = {.lines = (unsigned)width};
        struct layout layouts[2];
        uint8_t *to[2] = {out, NULL};
        size_t opened_bytes = 0;
        unsigned some = 0;

        do {
            to[some] = out;
            if (open_next(path, type, in, bytes, count, &layouts[some], err) != 0)
                return -1;
            in += layouts[some].info.bytes;
            opened_bytes += layouts[some].info.bytes;
            bytes -= layouts[some].info.bytes;
            out += layouts[some].info.count * width;
            count -= layouts[some].info.count;
        } while (can_pair(path, &layouts[some++]) && some < 2 && count > 0);
        ahead.at = in;
        ahead.end = in + (bytes < opened_bytes ? bytes : opened_bytes);
        if (some == 2 && can_pair(path, &layouts[1])) {
            if (decode_pair(path, layouts, &ahead, scratch, to, err) != 0)
                return -1;
            continue;
        }
        for (unsigned b = 0; b < some; b++)
            if (decode_content(path, &layouts[b], &ahead, scratch, to[b]) != 0)
                return parts_disagree(&layouts[b], err);
    }
    return bytes == 0 ? 0 : error_set(err, "%zu extra bytes after the last block", bytes);
}
