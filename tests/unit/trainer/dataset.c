/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/tap.h"
#include "trainer/data/dataset.h"
#include "trainer/data/permutation.h"

/* The tokens of a step: an epoch has each sequence once, with any number of ranks. */

static char path[] = "/tmp/muster-tokens-XXXXXX";

static struct token_file *write_token_file(const char *text, size_t length)
{
    FILE *stream = fmemopen((void *)(uintptr_t)text, length, "r");
    struct token_file *file = NULL;
    struct error err = {""};
    uint64_t count = 0;

    if (token_file_write_bytes(stream, "text", path, &count, &err) != 0 ||
        token_file_open(path, &file, &err) != 0)
        tap_diag("%s", err.text);
    fclose(stream);
    is_int(count, length, "%zu bytes are the same number of tokens", length);
    return file;
}

static void permutations_are_complete(void)
{
    static const uint64_t counts[] = {1, 2, 3, 4, 5, 16, 17, 1000, 65536, 65537};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        unsigned char *seen = calloc(counts[i], 1);
        uint64_t once = 0, moved = 0;

        for (uint64_t index = 0; index < counts[i]; index++) {
            uint64_t at = permutation_at(9, counts[i], index);

            once += at < counts[i] && !seen[at]++;
            moved += at != index;
        }
        is_int(once, counts[i], "a permutation of %llu has each index once",
               (unsigned long long)counts[i]);
        if (counts[i] >= 1000)
            ok(moved > counts[i] - 20, "... in another order");
        free(seen);
    }
    ok(permutation_at(9, 1000, 1) != permutation_at(10, 1000, 1) ||
           permutation_at(9, 1000, 2) != permutation_at(10, 1000, 2),
       "another seed gives another order");
}

/* Reads `batch` epochs as `ranks` ranks would, and tests that each has each window once. */
static void epochs_are_complete(const struct dataset *dataset, int ranks)
{
    uint64_t windows = dataset_windows(dataset);
    uint64_t steps = windows; /* batch x windows sequences are `batch` epochs */
    unsigned *seen = calloc(windows, sizeof *seen);
    int32_t *inputs = malloc((size_t)dataset->time * sizeof *inputs);
    int32_t *targets = malloc((size_t)dataset->time * sizeof *targets);
    bool is_shifted = true, is_right = true;
    uint64_t equal = 0;

    for (uint64_t step = 0; step < steps; step++) {
        for (int rank = 0; rank < ranks; rank++) {
            int first = dataset->batch * rank / ranks, last = dataset->batch * (rank + 1) / ranks;

            for (int row = first; row < last; row++) {
                dataset_read(dataset, step, row, 1, inputs, targets);
                /* the first two tokens of a window are its offset in the text */
                seen[(inputs[0] + 256 * inputs[1]) / dataset->time]++;
                for (int t = 0; t + 1 < dataset->time; t++)
                    is_shifted = is_shifted && targets[t] == inputs[t + 1];
                is_right = is_right && (uint64_t)((inputs[0] + 256 * inputs[1]) / dataset->time) ==
                                           dataset_window(dataset, step, (uint64_t)row);
            }
        }
    }
    for (uint64_t window = 0; window < windows; window++)
        equal += seen[window] == (unsigned)dataset->batch;
    is_int(equal, windows, "%d ranks: %d epochs have each of %llu sequences once each", ranks,
           dataset->batch, (unsigned long long)windows);
    ok(is_shifted, "the targets are the next tokens");
    ok(is_right, "a sequence is that of dataset_window()");
    free(seen);
    free(inputs);
    free(targets);
}

static void ranks_share_a_file(void)
{
    enum { TIME = 6, COUNT = 6 * 41 + 1 + 4 };
    char text[COUNT + 8];
    struct dataset dataset = {3, 256, 6, TIME, false, NULL};
    struct token_file *file;

    /* a window begins with its own offset, low byte first */
    for (int i = 0; i < COUNT; i++)
        text[i] = (char)(i % TIME == 0 ? i & 255 : i % TIME == 1 ? i >> 8 : 'x');
    file = write_token_file(text, COUNT);
    dataset.file = file;
    is_int(dataset_windows(&dataset), 41, "last tokens that do not fill a sequence are left out");
    for (int ranks = 1; ranks <= 6; ranks++)
        epochs_are_complete(&dataset, ranks);
    dataset.is_fixed = true;
    is_int(dataset_window(&dataset, 7, 3), dataset_window(&dataset, 0, 3),
           "a fixed batch is the same at each step");
    token_file_close(file);
}

static void random_tokens_are_a_stream(void)
{
    struct dataset dataset = {42, 64, 4, 16, false, NULL};
    static const int32_t first[] = {21, 3, 18, 20, 50, 6, 29, 36};
    int32_t whole[64], wanted[64], part[32], targets[64];

    dataset_read(&dataset, 0, 0, 4, whole, targets);
    ok(memcmp(whole, first, sizeof first) == 0, "the first tokens are those of the reference");
    ok(memcmp(whole + 1, targets, 63 * sizeof *whole) == 0, "the targets are shifted by one token");
    dataset_read(&dataset, 0, 2, 2, part, targets);
    ok(memcmp(part, whole + 32, sizeof part) == 0, "a part of a batch has the tokens of that part");
    dataset_read(&dataset, 1, 0, 4, wanted, targets);
    ok(memcmp(whole, wanted, sizeof whole) != 0, "the next step has other tokens");
}

static void patch(off_t at, const void *bytes, size_t length)
{
    int fd = open(path, O_WRONLY);

    ok(pwrite(fd, bytes, length, at) == (ssize_t)length, "byte %ld is changed", (long)at);
    close(fd);
}

static int megabytes;

static void count_megabyte(void)
{
    megabytes++;
}

static void large_files_are_verified_in_parts(void)
{
    enum { COUNT = 5 << 19 }; /* 2.5 MiB */
    char *text = calloc(1, COUNT);
    struct token_file *file = write_token_file(text, COUNT);
    struct error err = {""};

    is_int(token_file_verify(file, count_megabyte, &err), 0, "a file of 2.5 MiB is verified");
    is_int(megabytes, 3, "... and the callback is called for each MiB");
    patch(64 + COUNT - 1, "X", 1);
    is_int(token_file_verify(file, NULL, &err), -1, "its last token is verified too");
    token_file_close(file);
    free(text);
}

static void bad_files_are_refused(void)
{
    struct token_file *file = write_token_file("some text to train on", 21), *again = NULL;
    struct error err = {""};

    is_int(token_file_verify(file, NULL, &err), 0, "a file is verified");
    patch(70, "X", 1);
    is_int(token_file_verify(file, NULL, &err), -1, "a file with an altered token is refused");
    has_str(err.text, "corrupt tokens", "... with this message");
    patch(24, "\x07", 1);
    is_int(token_file_open(path, &again, &err), -1, "an altered header is refused");
    has_str(err.text, "corrupt header", "... with this message");
    patch(8, "\x02", 1);
    is_int(token_file_open(path, &again, &err), -1, "another version is refused");
    has_str(err.text, "found version 2, expected version 1", "... with this message");
    patch(0, "PK", 2);
    is_int(token_file_open(path, &again, &err), -1, "another kind of file is refused");
    has_str(err.text, "is not a token file", "... with this message");
    token_file_close(file);
    file = write_token_file("some text to train on", 21);
    is_int(truncate(path, 64 + 20), 0, "one byte is cut off");
    is_int(token_file_open(path, &again, &err), -1, "a file that is cut short is refused");
    has_str(err.text, "found 84 bytes, expected 21 tokens of 1 bytes", "... with its size");
    is_int(truncate(path, 10), 0, "most of the file is cut off");
    is_int(token_file_open(path, &again, &err), -1, "a file shorter than a header is refused");
    token_file_close(file);
    is_int(token_file_open("/no/such", &again, &err), -1, "a missing file is refused");
    has_str(err.text, "/no/such: No such file", "... with its name");
    is_int(token_file_open("/tmp", &again, &err), -1, "a directory is refused");
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0)
        tap_skip_all("no file in /tmp: %m");
    close(fd);
    permutations_are_complete();
    ranks_share_a_file();
    random_tokens_are_a_stream();
    bad_files_are_refused();
    large_files_are_verified_in_parts();
    unlink(path);
    return tap_done();
}
