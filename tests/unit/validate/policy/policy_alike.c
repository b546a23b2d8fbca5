/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/alike.h"

#include "tests/unit/tap.h"

int main(void)
{
    ok(!alike_is_common(1, 1, 1), "the only node that was asked may be at fault");
    ok(!alike_is_common(1, 1, 8), "one of 8 is");
    ok(alike_is_common(2, 2, 2), "both of two alike are not");
    ok(alike_is_common(2, 2, 4), "nor two of 4 at the same part");
    ok(!alike_is_common(1, 2, 4), "two of 4 at different parts may be");
    ok(!alike_is_common(2, 2, 8), "two of 8 too");
    ok(alike_is_common(1, 3, 8), "three of 8 at parts of one kind are not");
    ok(alike_is_common(6, 6, 8), "nor six at the same");
    ok(!alike_is_common(3, 3, 30), "three of 30 may be: no more than a tenth");
    ok(alike_is_common(4, 4, 30), "four are not");
    ok(!alike_is_common(100, 100, 1000), "a hundred of 1000 may be");
    ok(alike_is_common(101, 101, 1000), "more are not");
    ok(alike_is_kind("gpu3", "gpu12"), "GPUs are of one kind");
    ok(alike_is_kind("rank 0", "rank 12"), "ranks too");
    ok(alike_is_kind("", ""), "nodes without a part too");
    ok(alike_is_kind("mlx5_0:1", "mlx5_11:2"), "ports too");
    ok(!alike_is_kind("eth1 sends", "eth1"), "what is sent is not all");
    ok(!alike_is_kind("gpu", "gpus"), "nor is a part of a word");
    ok(!alike_is_kind("munge", "slurmd"), "nor are daemons");
    return tap_done();
}
