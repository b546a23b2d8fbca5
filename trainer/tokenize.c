/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/tokenize.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/stdout_flush.h"
#include "trainer/data/token_file.h"

static void help(FILE *stream)
{
    fputs(
        "usage: muster-train tokenize [--force] TEXT TOKENS\n\n"
        "Writes each byte of the file TEXT (- for standard input) as a token to the file TOKENS,\n"
        "for muster-train --data. --force: even where TOKENS is there already.\n",
        stream);
}

static int write_tokens(const char *text, const char *tokens)
{
    bool is_stdin = strcmp(text, "-") == 0;
    FILE *stream = is_stdin ? stdin : fopen(text, "re");
    struct stat from, to;
    struct error err;
    uint64_t count;
    int rv;

    if (!stream) {
        fprintf(stderr, "muster-train: %s: %m\n", text);
        return 1;
    }
    if (fstat(fileno(stream), &from) == 0 && stat(tokens, &to) == 0 && from.st_dev == to.st_dev &&
        from.st_ino == to.st_ino)
        rv = error_set(&err, "%s: is the text as well", tokens);
    else
        rv = token_file_write_bytes(stream, is_stdin ? "standard input" : text, tokens, &count,
                                    &err);
    if (!is_stdin)
        fclose(stream);
    if (rv != 0) {
        fprintf(stderr, "muster-train: %s\n", err.text);
        return 1;
    }
    printf("%s: %llu tokens of a vocabulary of 256\n", tokens, (unsigned long long)count);
    return 0;
}

int tokenize_main(int argc, char **argv)
{
    bool is_forced = argc > 1 && strcmp(argv[1], "--force") == 0;
    char **files = argv + 1 + is_forced;

    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        help(stdout);
        return stdout_flush("muster-train tokenize") != 0;
    }
    if (argc != 3 + is_forced || strncmp(files[0], "--", 2) == 0) {
        fputs("muster-train: tokenize takes the names of a text and of the file to write; see "
              "muster-train tokenize --help\n",
              stderr);
        return 2;
    }
    if (!is_forced && access(files[1], F_OK) == 0) {
        fprintf(stderr, "muster-train: %s is there already; --force replaces it\n", files[1]);
        return 1;
    }
    return write_tokens(files[0], files[1]);
}
