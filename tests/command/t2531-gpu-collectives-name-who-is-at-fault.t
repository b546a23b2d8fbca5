#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Collectives of muster-gpu with the stand-ins for libcuda, NVRTC and NCCL (tests/gpu): between the devices
# of a node, between nodes and pairs. A device that is slow, wrong or hangs is named, and a library that is
# missing, too old or another one.
. "$(dirname "$0")/gpu.sh"
command -v mpirun >/dev/null || skip_all 'no mpirun'
export OMPI_MCA_odls_base_sigkill_timeout=0 # else mpirun waits a second after a rank that failed
mkdir "$dir/new" "$dir/old" "$dir/none"
for directory in new old none; do
    library cuda.so $directory/libcuda.so.1
    library nvrtc.so $directory/libnvrtc.so.12
done
library nccl.so new/libnccl.so.2
library nccl-old.so old/libnccl.so.2

# gpu LIBRARIES DEVICES NODES STATE...: runs on that many nodes with one state each, further nodes with the
# last state, and the options of the array. Writes the records to the file json. Sets text to "VERDICT CODE
# NODE METRIC PART" of those that do not pass.
options=()
gpu() {
    local devices=$2 nodes=$3 state='' ranks=() i
    printf '%s\n' "GpuLibraryPath=$dir/$1" "GpuDeadline=${deadline:-60}s" >"$dir/conf"
    shift 3
    for ((i = 1; i <= nodes; i++)); do
        [ $# -eq 0 ] || { state=$1 && shift; }
        printf '%s\n' "devices $devices" "cache $dir" "$state" >"$dir/state$i"
        ranks+=(-n 1 env "SLURMD_NODENAME=n$i" "MUSTER_GPU_STATE=$dir/state$i" "$program" --json
            --tests=collectives --time-limit=300 "${options[@]}" :)
    done
    timeout 600 mpirun --oversubscribe "${ranks[@]:0:${#ranks[@]}-1}" >"$dir/json" 2>"$dir/err" </dev/null
    status=$?
    text=$(jq -r 'select(.verdict and .verdict != "pass") |
        "\(.verdict) \(.code // "-") \(.node // "-") \(.metric) \(.part // "-")"' "$dir/json" | sort -u)
}

options=(--quick)
gpu new 3 2 ''
is "$status/$text" 0/ 'healthy devices pass' || diag "$(cat "$dir/err")"
names='all_gather all_reduce all_to_all broadcast reduce_scatter'
is "$(jq -r 'select(.node == "n2") | .metric' "$dir/json" | sort | xargs)" "$names" '... in all collectives of a node'
is "$(jq -r 'select(.verdict and (has("node") | not)) | .metric' "$dir/json" | sort | xargs)" \
    "$(printf '%s_nodes ' $names | xargs)" '... and of all nodes'
# the model has 500 ns for a byte on the bus, and 0.1 ms for an operation of 8,064 bytes
is "$(jq -r 'select(.node == "n1" and .metric == "all_reduce") | .value * 1e7 | round' "$dir/json")" \
    19635 '... with the bus bandwidth of the model'
records_hold '... records as doc/records.md says' <"$dir/json"

gpu new 4 3 '' 'gpu1.nccl_slow 0.5' ''
is "$text" "$(printf 'fail gpu_collective_slow n2 %s gpu1\n' $names)" \
    'a node that is slower than its peers fails, with the device that is slow with each other device'
gpu new 4 2 $'gpu2.nccl_wrong 1\ngpu0.nccl_late 50' ''
is "$text" 'fail gpu_collective_wrong n1 device gpu2' \
    'wrong results on all devices are attributed to the one that sends them; the tests between nodes leave out the node'
like "$(cat "$dir/json")" 'wrong elements among 4 devices, in all_reduce first: the first one on gpu0 is [0-9]+: found' \
    '... and the message has the first one, ordered by operation and device'
deadline=5 gpu new 2 1 'gpu1.nccl_hang 1'
is "$text" 'fail gpu_collective_hung n1 device -' 'collectives that hang are ended'
deadline=2 gpu new 3 1 'gpu1.nccl_stop 1'
is "$status/$text" '3/unknown not_measured n1 device -' '... but it is unknown if they wait for a stopped process'
deadline=2 gpu new 2 1 'hang ncclCommInitRank'
is "$status/$text" '3/unknown not_measured n1 device -' '... or if they do not begin: the library may still be loading'
gpu new 2 1 'crash ncclAllGather'
is "$status/$text" '3/unknown gpu_collective_failed n1 device -' 'a library that crashes is not a fault of the node'
gpu new 1 3 'nccl_version 22105' 'nccl_version 22105' 'nccl_version 21903'
is "$status/$text" '0/warn gpu_collective_version n3 library -' 'a library version that differs from the majority is a warning'
is "$(jq -r 'select(.metric == "all_reduce_nodes") | .message' "$dir/json")" \
    '2 devices, 0.008192 MB, algorithm bandwidth 0.001952 GB/s' '... and the others are tested without that node'
options=()
gpu new 1 4 '' 'gpu0.nccl_slow 0.5' ''
is "$status/$text" '0/warn gpu_collective_slow n2 all_reduce_nodes -' \
    'a node that is slow with each other node is a warning: the network may be faulty'
gpu new 1 4 '' '' 'gpu0.nccl_wrong 1' ''
is "$text" $'fail gpu_collective_wrong n3 device -\nwarn gpu_collective_wrong - device -' \
    'a node that is wrong with each other node fails'
gpu new 1 1
is "$status/$text" 0/ 'a single device passes'
like "$(cat "$dir/json")" 'NCCL 2.21.5 works with the only device' '... and shows that the library works'
options=(--quick)
mkdir "$dir/hide" # hides a real library of this machine
printf x >"$dir/hide/libnccl.so.2"
for libraries in old:'libnccl.so.2 is too old: missing function ncclSend' none:'libnccl.so.2 not found; set GpuLibraryPath'; do
    LD_LIBRARY_PATH=$dir/hide:${LD_LIBRARY_PATH-} gpu "${libraries%%:*}" 2 1
    is "$status/$text" '0/skip - n1 library -' "library ${libraries%%:*}: collectives are not tested"
    like "$(cat "$dir/json")" "${libraries#*:}" '... with the reason'
done
done_testing
