/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/harness/pattern.h"
#include "tests/unit/tap.h"

#include <string.h>

static void check_differs(struct pattern a, struct pattern b, const char *in)
{
    unsigned char data[64];

    pattern_fill(&a, data, sizeof data);
    ok(pattern_check(&b, data, sizeof data) < 2, "another %s is another pattern", in);
}

int main(void)
{
    struct pattern pattern = pattern_of(1, 2, 1000, 7);
    unsigned char data[1000];
    size_t damaged[] = {0, 1, 7, 8, 500, 991, 992, 999};

    pattern_fill(&pattern, data, sizeof data);
    is_int(pattern_check(&pattern, data, sizeof data), 1000, "the filled data is right");
    is_int(pattern_check(&pattern, data, 0), 0, "... and so is no data");
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        data[damaged[i]] ^= 0x40;
        is_int(pattern_check(&pattern, data, sizeof data), damaged[i],
               "damage at byte %zu is found", damaged[i]);
        data[damaged[i]] ^= 0x40;
    }
    memmove(data, data + 1, sizeof data - 1);
    ok(pattern_check(&pattern, data, sizeof data) < 2, "a shift by one byte is found");
    check_differs(pattern, pattern_of(2, 1, 1000, 7), "direction");
    check_differs(pattern, pattern_of(1, 3, 1000, 7), "receiver");
    check_differs(pattern, pattern_of(1, 2, 1001, 7), "size");
    check_differs(pattern, pattern_of(1, 2, 1000, 8), "seed");
    for (size_t i = 0; i < 20; i++) {
        pattern_fill(&pattern, data, i);
        ok(i == 0 || data[i - 1] == pattern_byte(&pattern, i - 1),
           "the first %zu bytes are the same when filled alone", i);
    }
    return tap_done();
}
