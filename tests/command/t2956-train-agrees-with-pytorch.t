#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster-train and PyTorch, started from the same weights, agree; with a model that no other test has.
. "$(dirname "$0")/command.sh"
needs muster-train

problem=(--layers=3 --heads=3 --channels=51 --context=37 --vocab=101 --batch=3 --lr=0.002 --steps=6
    --seed-weights=11 --seed-data=12)

# the Python of Debian's PyTorch package
python=/usr/bin/python3
[ -x $python ] || python=python3
for precision in fp32 bf16; do
    timeout 600 $python "$top_srcdir/tests/bench/train_torch.py" "${problem[@]}" \
        --precision=$precision >"$dir/torch" 2>"$dir/err"
    status=$?
    [ $status != 77 ] || skip_all 'no PyTorch (Debian package python3-torch)'
    is "$status" 0 "PyTorch trains in $precision"
    if ! "$top_builddir/muster-train" "${problem[@]}" --fixed-batch --gradient-norms --json \
        --precision=$precision >"$dir/muster" 2>"$dir/err"; then
        like "$(cat "$dir/err")" '^muster-train: --precision=bf16 ' \
            "muster-train has no $precision here"
        continue
    fi
    # largest differences of losses, and largest relative differences of gradient norms of tensors
    jq -rn --slurpfile torch "$dir/torch" --slurpfile muster "$dir/muster" '
        def greatest: map(fabs) | max;
        $torch[0] as $t
        | [$muster[] | select(.metric == "loss" and (.part | startswith("step "))) | .value]
        as $losses
        | [$muster[] | select(.metric == "gradient_norm") | select($t.gradient_norms[.part])]
        as $norms
        | "\($losses | length) \($norms | length) \([range($losses | length)
            | $losses[.] - $t.losses[.]] | greatest) \([$norms[]
            | .value / $t.gradient_norms[.part] - 1] | greatest)"' >"$dir/apart"
    read -r losses norms loss_apart norm_apart <"$dir/apart"
    is "$losses $norms" '6 16' 'both have six losses and sixteen norms'
    # fp32: the tolerance of the reference losses; bf16: more, because both round in different places
    case $precision in
    fp32) limits=(1e-5 1e-4) ;;
    *) limits=(3e-3 3e-2) ;;
    esac
    ok "losses in $precision are within ${limits[0]} ($loss_apart)" \
        awk "BEGIN { exit !($loss_apart <= ${limits[0]}) }"
    ok "norms of gradients are relatively within ${limits[1]} ($norm_apart)" \
        awk "BEGIN { exit !($norm_apart <= ${limits[1]}) }"
done
done_testing
