/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/tokenize.h"

#include <getopt.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/option_set.h"
#include "lib/base/stdout_flush.h"
#include "trainer/data/token_file.h"

static const struct option_row rows[] = {
    OPTION('\0', "force", NULL, "replace TOKENS if it exists", FLAG, .offset = 0),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster-train tokenize",
    .usage = "muster-train tokenize [--force] TEXT TOKENS",
    .summary = "Writes each byte of the file TEXT (-: standard input) as one token to the file "
               "TOKENS, for muster-train --data.",
    .status = "0 written, 1 not written, 2 usage.",
    .rows = rows,
    .words = 2,
};

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
        rv = error_set(&err, "%s: is also the input file", tokens);
    else
        rv = token_file_write_bytes(stream, is_stdin ? "standard input" : text, tokens, &count,
                                    &err);
    if (!is_stdin)
        fclose(stream);
    if (rv != 0) {
        fprintf(stderr, "muster-train: %s\n", err.text);
        return 1;
    }
    printf("%s: %llu tokens, vocabulary of 256\n", tokens, (unsigned long long)count);
    return stdout_flush(set.name) != 0;
}

int tokenize_main(int argc, char **argv)
{
    bool is_forced = false;
    struct error err;
    enum option_request request = option_set_parse(&set, argc, argv, &is_forced, NULL, &err);
    char **files = argv + optind;

    if (request != OPTION_RUN && request != OPTION_MISUSE) {
        option_set_print(&set, request, stdout);
        return stdout_flush(set.name) != 0;
    }
    if (request == OPTION_MISUSE || argc - optind != 2) {
        fprintf(stderr, "%s: %s; see %s --help\n", set.name,
                request == OPTION_MISUSE ? err.text : "expected a text file and an output file",
                set.name);
        return 2;
    }
    if (!is_forced && access(files[1], F_OK) == 0) {
        fprintf(stderr, "muster-train: %s already exists; --force replaces it\n", files[1]);
        return 1;
    }
    return write_tokens(files[0], files[1]);
}
