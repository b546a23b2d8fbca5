/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/collectives/amount.h"
#include "tests/unit/tap.h"

static void is_amount(size_t bytes, int blocks, size_t block, size_t moved)
{
    struct amount found = amount_of(bytes, blocks);

    ok(found.block == block && found.bytes == moved,
       "%zu bytes in %d blocks: %zu floats each, %zu bytes", bytes, blocks, block, moved);
}

int main(void)
{
    is_amount(1024, 1, 256, 1024);
    is_amount(1024, 4, 64, 1024);
    is_amount(1024, 100, 2, 800); /* floats that do not fill all blocks are not counted */
    is_amount(1024, 1000, 1, 4000);
    is_amount(16 << 20, 4096, 1024, 16 << 20);
    return tap_done();
}
