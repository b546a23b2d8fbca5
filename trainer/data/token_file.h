/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TOKEN_FILE_H
#define MUSTER_TOKEN_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "lib/base/error.h"

/* Tokens on disk: a header of 64 bytes, then the tokens, 1, 2 or 4 bytes each as the vocabulary
 * needs. Little-endian.
 *
 *  0  "MUSTERTK"    16  bytes of a token, 4 bytes   32  CRC-32C of the tokens, 4 bytes
 *  8  version 1, 4  20  0, 4 bytes                  36  CRC-32C of the 36 bytes before, 4 bytes
 * 12  vocabulary, 4 24  number of tokens, 8 bytes   40  zeros
 */

struct token_file;

/* Maps the file and checks its header and size; token_file_verify() checks its tokens. Returns 0,
 * or -1 with err "PATH: ...". */
int token_file_open(const char *path, struct token_file **file, struct error *err);
void token_file_close(struct token_file *file);

uint32_t token_file_vocabulary(const struct token_file *file);
/* CRC-32C of the tokens, which distinguishes files. */
uint32_t token_file_crc(const struct token_file *file);
uint64_t token_file_count(const struct token_file *file);

/* Reads tokens [first, first + count). In a file that was verified they are below the vocabulary;
 * in others they may have any value. */
void token_file_read(const struct token_file *file, uint64_t first, uint64_t count,
                     int32_t *tokens);

/* Returns 0 if the checksum is right and all tokens are below the vocabulary, else -1 with err.
 * progress, which may be NULL, is called after each megabyte: a large file takes minutes. */
int token_file_verify(const struct token_file *file, void (*progress)(void), struct error *err);

/* Writes the bytes of a text as tokens of a vocabulary of 256; path is complete or does not exist.
 * Returns 0 with *count, or -1 with err. */
int token_file_write_bytes(FILE *text, const char *text_name, const char *path, uint64_t *count,
                           struct error *err);

#endif
