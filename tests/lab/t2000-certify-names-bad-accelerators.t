#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# certify loads the accelerators of every node (stand-ins, tests/gpu): healthy ones pass, each fault is
# named with its node, device and code and fails that node alone, and healed the nodes are certified.
lab_options=(--gpus)
. "$(dirname "$0")/certify.sh"
. "$(dirname "$0")/madeup.sh"
made_up_battery # of launch, links and collectives; muster-gpu is the real one
[ -x "${real_muster%/*}/muster-gpu" ] || skip_all "muster-gpu is not beside $real_muster"
rm "$work/bin/muster-gpu"

run() { # OPTION...
    certify --level quick "$@"
}

# prints "n1 gpu3 gpu_slow" for each failure that muster-gpu reports, sorted
faults() {
    jq -r 'select(.suite == "gpu" and .verdict == "fail") | "\(.node) \(.part) \(.code)"' "$work/records" |
        sort -u | xargs -d '\n' | sed 's/ *$//'
}

# prints the column GPU of the table
column() {
    awk '$1 == "NODE" { for (i = 1; i <= NF; i++) if ($i == "GPU") at = i } at && /^n[0-9]/ { print $1, $at }' \
        "$work/output" | xargs
}

inject() { lab fault "$@" >/dev/null; }

run
is "$status $(verdicts)" '0 n1 pass n2 pass n3 pass n4 pass' 'healthy accelerators are certified' || show
is "$(column)" 'n1 pass n2 pass n3 pass n4 pass' '... with a column of their own'
is "$(jq -r 'select(.suite == "gpu" and .metric == "rate_fp32") | "\(.node) \(.part)"' "$work/records" | sort -u | wc -l)" \
    32 '... eight devices of each node, which the step has requested'
like "$(jq -r 'select(.metric == "all_reduce_nodes") | .message' "$work/records")" '^32 devices, ' \
    '... and all of them in one collective'
valid '... by records as doc/records.md says'
cp "$work/records" "$work/healthy"

inject gpu-slow n1
inject gpu-collectives-slow n1 6
inject gpu-hang n2 5
run --no-drain
is "$status $(verdicts)" '1 n1 fail n2 fail n3 pass n4 pass' \
    'a slow device and one that hangs fail their nodes, and no other' || show
is "$(faults)" 'n1 gpu3 gpu_slow n1 gpu6 gpu_collective_slow n2 gpu5 gpu_hung' \
    '... named by device and code, also a device that is slow in collectives' || show
like "$(grep '^n1 ' "$work/output")" '^n1 +FAILED .* gpu3: ' '... and are in the table' || show
lab heal >/dev/null

inject gpu-memory n3 6
inject gpu-collectives-wrong n3 1
inject gpu-link n4 2
run --no-drain
is "$status $(verdicts)" '1 n1 pass n2 pass n3 fail n4 fail' 'wrong memory and a slow path between two devices fail their nodes, and no other' || show
is "$(faults)" 'n3 gpu1 gpu_collective_wrong n3 gpu6 gpu_memory_wrong n4 gpu2 gpu3 gpu_peer_slow n4 gpu3 gpu2 gpu_peer_slow' \
    '... named by device and code, also a device that sends wrong data in collectives' || show
lab heal >/dev/null

inject gpu-wrong n1 0
inject gpu-lost n2 7
run --no-drain
is "$status $(verdicts)" '1 n1 fail n2 fail n3 pass n4 pass' \
    'wrong results, and a device that falls off the bus during the test, fail their nodes, and no other' || show
is "$(faults)" 'n1 gpu0 gpu_result_wrong n2 gpu7 gpu_failed' '... by device and code' || show
lab heal >/dev/null

inject gpu-old-library n1
run
is "$status $(verdicts)" '3 n1 unknown n2 pass n3 pass n4 pass' \
    'a library too old on one node: that node is unknown' || show
like "$output" 'n1 .*libcuda.so.1 is too old' '... and the output says why'
is "$(states)" 'n1 idle n2 idle n3 idle n4 idle' '... and nobody is drained'
for node in n2 n3 n4; do
    inject gpu-old-library $node
done
run
is "$status $(verdicts)" '0 n1 pass n2 pass n3 pass n4 pass' 'a library too old on all nodes: the test is skipped' || show
like "$output" 'gpu: n\[1-4\]: not tested: libcuda.so.1 is too old' '... with its reason, once'
lab heal >/dev/null

inject gpu-slow-memory n4
run
is "$status $(states)" '1 n1 idle n2 idle n3 idle n4 drained' 'a node with slow memory is drained' || show
like "$(reason n4)" '^muster: gpu_memory_slow gpu3 ' '... with code and device'
lab heal >/dev/null
# five good runs in which one device was 1.5 times as fast
for i in 1 2 3 4 5; do
    jq -c 'if .metric == "rate_fp32" and .node == "n2" and .part == "gpu4" then .value *= 1.5 else . end' "$work/healthy" |
        "$(dirname "$record_check")/history-add" "$top/.lab/$name/head/var/lib/muster/history.db" "old$i" $((1000 + i)) ||
        bail 'history-add'
done
run
is "$status $(verdicts) $(states)" \
    '0 n1 pass n2 pass n3 pass n4 pass n1 idle n2 idle n3 idle n4 idle' 'healed, it is certified and released' || show
like "$(jq -r 'select(.verdict == "warn") | "\(.node) \(.part) \(.metric) \(.limit_source): \(.message)"' "$work/records")" \
    '^n2 gpu4 rate_fp32 history: [0-9.e+]+ GFLOP/s, median of its last [5-9] good runs [0-9.e+]+$' \
    'a device that is slower than before is reported, and no other' || show
ok 'nothing is left' within 60 nothing_left
done_testing
