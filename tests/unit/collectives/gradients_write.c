/* SPDX-License-Identifier: Apache-2.0 */

/* Writes values of one kind to standard output, for tests and measurements with files. */

#include "tests/unit/collectives/gradients.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct random_numbers numbers = {0};
    enum codec_type type;
    size_t count, bytes;
    void *values;
    int kind = 0;

    if (argc == 5)
        while (kind < GRADIENTS_KINDS && strcmp(gradients_name((enum gradients)kind), argv[1]) != 0)
            kind++;
    if (argc != 5 || kind == GRADIENTS_KINDS || !codec_type_parse(argv[2], &type)) {
        fputs("usage: gradients KIND TYPE COUNT SEED\n", stderr);
        return 2;
    }
    count = strtoull(argv[3], NULL, 10);
    numbers.state = strtoull(argv[4], NULL, 10) | UINT64_C(1) << 63;
    bytes = count * codec_type_bytes(type);
    values = malloc(bytes + 1);
    if (!values)
        return 1;
    gradients_fill((enum gradients)kind, type, &numbers, values, count);
    if (fwrite(values, 1, bytes, stdout) != bytes || fflush(stdout) != 0)
        return 1;
    free(values);
    return 0;
}
