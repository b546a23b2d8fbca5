/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/data/token_file.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectives/codec/crc32c.h"
#include "lib/base/atomic_file.h"
#include "lib/base/regular_file.h"

#define MAGIC "MUSTERTK"

enum { HEADER_BYTES = 64, FORMAT_VERSION = 1, BYTE_VOCABULARY = 256, CHUNK_BYTES = 1 << 20 };

struct header {
    char magic[8];
    uint32_t version, vocabulary, token_bytes, nothing;
    uint64_t count;
    uint32_t tokens_crc, header_crc;
    uint8_t zeros[24];
};
_Static_assert(sizeof(struct header) == HEADER_BYTES, "the header has no gaps");

struct token_file {
    struct header header;
    const uint8_t *mapped;
    size_t size_bytes;
    char path[512];
};

static int check_header(const struct token_file *file, struct error *err)
{
    const struct header *header = &file->header;

    if (memcmp(header->magic, MAGIC, sizeof header->magic) != 0)
        return error_set(err, "%s: is not a token file; create one with muster-train tokenize",
                         file->path);
    if (header->version != FORMAT_VERSION)
        return error_set(err, "%s: found version %u, expected version %d", file->path,
                         header->version, FORMAT_VERSION);
    if (header->header_crc != crc32c(0, header, offsetof(struct header, header_crc)))
        return error_set(err, "%s: corrupt header: wrong checksum", file->path);
    if ((header->token_bytes != 1 && header->token_bytes != 2 && header->token_bytes != 4) ||
        header->vocabulary < 2 || header->vocabulary > INT32_MAX)
        return error_set(err,
                         "%s: found tokens of %u bytes and a vocabulary of %u, expected 1, 2 or 4 "
                         "bytes and at least 2",
                         file->path, header->token_bytes, header->vocabulary);
    if (header->count > (SIZE_MAX - HEADER_BYTES) / header->token_bytes ||
        file->size_bytes != HEADER_BYTES + header->count * header->token_bytes)
        return error_set(err, "%s: found %zu bytes, expected %llu tokens of %u bytes", file->path,
                         file->size_bytes, (unsigned long long)header->count, header->token_bytes);
    return 0;
}

int token_file_open(const char *path, struct token_file **file, struct error *err)
{
    struct token_file *made = calloc(1, sizeof *made);
    struct stat status;
    void *mapped;
    int fd;

    if (!made)
        return error_set(err, "%s: %m", path);
    snprintf(made->path, sizeof made->path, "%s", path);
    fd = regular_file_open(path, err);
    if (fd < 0)
        goto fail;
    if (fstat(fd, &status) != 0 || status.st_size < HEADER_BYTES) {
        error_set(err, "%s: is not a token file; create one with muster-train tokenize", path);
        goto fail;
    }
    mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) {
        error_set(err, "%s: %m", path);
        goto fail;
    }
    close(fd);
    fd = -1;
    made->mapped = mapped;
    made->size_bytes = (size_t)status.st_size;
    memcpy(&made->header, mapped, sizeof made->header);
    if (check_header(made, err) != 0)
        goto fail;
    *file = made;
    return 0;

fail:
    if (fd >= 0)
        close(fd);
    token_file_close(made);
    return -1;
}

void token_file_close(struct token_file *file)
{
    if (!file)
        return;
    if (file->mapped)
        munmap((void *)(uintptr_t)file->mapped, file->size_bytes);
    free(file);
}

uint32_t token_file_vocabulary(const struct token_file *file)
{
    return file->header.vocabulary;
}

uint32_t token_file_crc(const struct token_file *file)
{
    return file->header.tokens_crc;
}

uint64_t token_file_count(const struct token_file *file)
{
    return file->header.count;
}

static uint32_t token_at(const struct token_file *file, uint64_t index)
{
    const uint8_t *at = file->mapped + HEADER_BYTES + index * file->header.token_bytes;
    uint32_t token = 0;

    memcpy(&token, at, file->header.token_bytes);
    return token;
}

void token_file_read(const struct token_file *file, uint64_t first, uint64_t count, int32_t *tokens)
{
    for (uint64_t i = 0; i < count; i++)
        tokens[i] = (int32_t)token_at(file, first + i);
}

int token_file_verify(const struct token_file *file, void (*progress)(void), struct error *err)
{
    const struct header *header = &file->header;
    uint64_t chunk = CHUNK_BYTES / header->token_bytes, beyond = header->count;
    uint32_t crc = 0;

    /* in one pass: the file may be larger than memory */
    for (uint64_t first = 0; first < header->count; first += chunk) {
        uint64_t end = header->count - first < chunk ? header->count : first + chunk;

        crc = crc32c(crc, file->mapped + HEADER_BYTES + first * header->token_bytes,
                     (end - first) * header->token_bytes);
        for (uint64_t i = first; i < end && beyond == header->count; i++)
            if (token_at(file, i) >= header->vocabulary)
                beyond = i;
        if (progress)
            progress();
    }
    if (crc != header->tokens_crc)
        return error_set(err, "%s: corrupt tokens: the checksum differs from the one in the header",
                         file->path);
    if (beyond < header->count)
        return error_set(err, "%s: token %llu is %u, expected less than %u, its vocabulary",
                         file->path, (unsigned long long)beyond, token_at(file, beyond),
                         header->vocabulary);
    return 0;
}

/* Copies the text behind the place of the header; sets count and tokens_crc. */
static int copy_bytes(FILE *text, const char *text_name, FILE *tokens, const char *path,
                      struct header *header, struct error *err)
{
    static uint8_t chunk[CHUNK_BYTES];
    size_t length;

    if (fseek(tokens, HEADER_BYTES, SEEK_SET) != 0)
        return error_set(err, "%s: %m", path);
    while ((length = fread(chunk, 1, sizeof chunk, text)) > 0) {
        header->tokens_crc = crc32c(header->tokens_crc, chunk, length);
        header->count += length;
        if (fwrite(chunk, 1, length, tokens) != length)
            return error_set(err, "%s: %m", path);
    }
    return ferror(text) ? error_set(err, "%s: %m", text_name) : 0;
}

int token_file_write_bytes(FILE *text, const char *text_name, const char *path, uint64_t *count,
                           struct error *err)
{
    struct header header = {
        .version = FORMAT_VERSION, .vocabulary = BYTE_VOCABULARY, .token_bytes = 1};
    struct atomic_file file;

    if (atomic_file_begin(&file, path, 0666, err) != 0)
        return -1;
    if (copy_bytes(text, text_name, file.stream, path, &header, err) != 0)
        return atomic_file_discard(&file, NULL);
    memcpy(header.magic, MAGIC, sizeof header.magic);
    header.header_crc = crc32c(0, &header, offsetof(struct header, header_crc));
    if (fseek(file.stream, 0, SEEK_SET) != 0 || fwrite(&header, sizeof header, 1, file.stream) != 1)
        return atomic_file_discard(&file, err);
    *count = header.count;
    return atomic_file_commit(&file, err);
}
