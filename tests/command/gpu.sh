# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # tests take status and text
#
# gpu.sh - common parts of tests of muster-gpu with stand-ins of the vendors' libraries (tests/gpu). Source it
# instead of command.sh:
#
#   . "$(dirname "$0")/gpu.sh"
#   library cuda.so new/libcuda.so.1    # a stand-in, as a library below $dir
#   gpu new 'gpu1.lost 1' --tests=memory   # muster-gpu with the libraries in $dir/new: $status, $text
#   finds 'gpu1.lost 1' 'gpu_lost ...' 'a device that is lost'   # ... and checks $text

. "$(dirname "${BASH_SOURCE[0]}")/command.sh"
needs muster-gpu
program=$top_builddir/muster-gpu
[ -e "$top_builddir/tests/gpu/cuda.so" ] || skip_all 'the stand-ins are not built'
command -v jq >/dev/null || skip_all 'no jq(1)'
unset CUDA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES
mpi_environment
export MUSTER_GPU_STATE=$dir/state MUSTER_CONF=$dir/conf
library() { cp "$(realpath "$top_builddir/tests/gpu/$1")" "$dir/$2"; } # the tree may belong to another user

# Writes the records to the file json. Sets text to "CODE TEST METRIC PART" of those that do not pass.
gpu() { # LIBRARIES STATE OPTION...
    printf '%s\n' "GpuLibraryPath=$dir/$1" "GpuDeadline=${deadline:-60}s" >"$dir/conf"
    printf '%s\n' 'devices 3' "cache $dir" "$2" >"$dir/state"
    timeout 600 "$program" --json --quick --time-limit=170 "${@:3}" >"$dir/json" 2>"$dir/err" </dev/null
    status=$?
    text=$(jq -r 'select(.verdict and .verdict != "pass") | "\(.code // "-") \(.test) \(.metric) \(.part // "-")"' \
        "$dir/json" | sort -u)
}

finds() { # STATE TEXT NAME OPTION...
    gpu new "$1" "${@:4}"
    is "$text" "$2" "$3"
}
