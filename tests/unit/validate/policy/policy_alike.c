/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/alike.h"

#include "tests/unit/tap.h"

int main(void)
{
    ok(!alike_is_common(1, 1, 1), "the only node tested may be at fault");
    ok(!alike_is_common(1, 1, 8), "one of 8 may be at fault");
    ok(alike_is_common(2, 2, 2), "two of two alike are a common fault");
    ok(alike_is_common(2, 2, 4), "... and so are two of 4 at the same part");
    ok(!alike_is_common(1, 2, 4), "two of 4 at different parts may be their own faults");
    ok(!alike_is_common(2, 2, 8), "... and so may two of 8");
    ok(alike_is_common(1, 3, 8), "three of 8 at parts of one kind are a common fault");
    ok(alike_is_common(6, 6, 8), "... and so are six at the same part");
    ok(!alike_is_common(3, 3, 30), "three of 30, a tenth, may be their own faults");
    ok(alike_is_common(4, 4, 30), "four of 30 are a common fault");
    ok(!alike_is_common(100, 100, 1000), "a hundred of 1000 may be their own faults");
    ok(alike_is_common(101, 101, 1000), "101 of 1000 are a common fault");
    ok(alike_is_same_kind("gpu3", "gpu12"), "GPUs are parts of one kind");
    ok(alike_is_same_kind("rank 0", "rank 12"), "... and so are ranks");
    ok(alike_is_same_kind("", ""), "... and nodes without a part");
    ok(alike_is_same_kind("mlx5_0:1", "mlx5_11:2"), "... and ports");
    ok(!alike_is_same_kind("eth1 sends", "eth1"),
       "a direction of a rail is another kind than the rail");
    ok(!alike_is_same_kind("gpu", "gpus"), "a prefix of a word is another kind");
    ok(!alike_is_same_kind("munge", "slurmd"), "different daemons are different kinds");
    return tap_done();
}
