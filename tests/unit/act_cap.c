/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/act/cap.h"

#include "tests/unit/tap.h"

int main(void)
{
    is_int(cap_nodes(4, 25, CAP_DRAINS_LEAST), 1, "a quarter of 4");
    is_int(cap_nodes(5, 25, CAP_DRAINS_LEAST), 2, "a quarter of 5, rounded up");
    is_int(cap_nodes(100, 0, CAP_DRAINS_LEAST), 1, "never less than one drained");
    is_int(cap_nodes(1000, 10, CAP_DRAINS_LEAST), 100,
           "a tenth of 1000, not rounded up for a rounding error");
    is_int(cap_nodes(16, 5, CAP_TESTS_LEAST), 2, "never less than two in tests");
    return tap_done();
}
