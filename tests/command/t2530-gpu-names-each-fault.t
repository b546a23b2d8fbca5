#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster-gpu with the stand-ins for libcuda and NVRTC (tests/gpu): healthy devices pass, without races,
# and each fault is named with its device.
. "$(dirname "$0")/gpu.sh"
mkdir "$dir/new" "$dir/old" "$dir/driver" "$dir/blas-old"
library cuda.so new/libcuda.so.1
library nvrtc.so new/libnvrtc.so.12
library nccl.so new/libnccl.so.2
library cublaslt.so new/libcublasLt.so.12
library cuda-old.so old/libcuda.so.1
library cuda.so driver/libcuda.so.1
cp -p "$dir/new"/* "$dir/blas-old"
library cublaslt-old.so blas-old/libcublasLt.so.12

gpu new 'races 1'
is "$status/$text" 0/ 'healthy devices pass, and no two threads of a kernel touch the same element'
is "$(jq -r 'select(.part == "gpu2") | .metric' "$dir/json" | sort | tr '\n' ' ')" \
    'atomics memory_copy memory_copy_together memory_read memory_triad memory_write products rate_bf16 rate_bf16_together rate_fp16 rate_fp32 rate_fp32_together rate_fp64 rate_fp64_blas rate_fp64_together rate_fp8 rate_int8 rate_tf32 tested to_device to_host ' \
    '... in all judged figures'
is "$(jq -r 'select(.metric == "to_peer") | .part' "$dir/json" | wc -l)" 6 '... and each pair in both directions'
records_hold '... records as doc/records.md says' <"$dir/json"

all_rates() { # PART METRIC...: prints a slow rate of each
    printf "gpu_slow gpu.compute rate_%s $1\n" "${@:2}"
}
finds 'gpu1.slow_clock 0.7' "$(all_rates gpu1 bf16 bf16_together fp16 fp32 fp32_together fp64 fp64_blas fp64_together fp8 int8 tf32)" \
    'a slow clock' --tests=compute
is "$status" 1 '... is a failure'
finds 'gpu2.slow_tensor 0.8' "$(all_rates gpu2 bf16 bf16_together fp16 fp64_blas fp8 int8 tf32)" 'slow matrix units' --tests=compute
finds 'gpu0.blas_wrong 1' 'gpu_result_wrong gpu.compute wrong gpu0' 'a wrong product of the library of the vendor' --tests=compute
like "$(cat "$dir/json")" 'first in fp64, element [0-9]+: .* repeat with muster-gpu --devices=0 --tests=compute' '... with the command that repeats it'
finds 'gpu.blas_wrong 1' "$(printf 'not_measured gpu.compute wrong gpu%s\n' 0 1 2)" 'a wrong product on all devices is attributed to no device' --tests=compute
finds 'blas_without 28' '' 'a precision that the devices lack is not a fault' --tests=compute
is "$(jq -r 'select(.metric == "rate_fp8" or .metric == "rate_int8") | .metric' "$dir/json" | sort -u)" rate_int8 \
    '... and has no record'
finds 'return.cublasLtCreate 1' '- gpu.compute library -' 'a library of products that does not work is not a fault of a device' --tests=compute
is "$status" 0 '... and all else is tested'
like "$(cat "$dir/json")" "products of the vendor's library not tested: cublasLtCreate: error 1" '... with the reason'
finds 'return.cublasLtMatmul 13' '- gpu.compute library -' '... nor a product that fails' --tests=compute
deadline=1 finds 'hang cublasLtMatmulAlgoGetHeuristic' "$(printf 'not_measured gpu.compute device gpu%s\n' 0 1 2)" \
    '... nor a library that hangs' --tests=compute
is "$status" 3 '... with status 3'
gpu blas-old '' --tests=compute
is "$status/$text" '0/- gpu.compute library -' '... nor one that is too old'
like "$(cat "$dir/json")" 'libcublasLt.so.12 is too old: missing function cublasLtMatmulAlgoGetHeuristic' '... with the reason'
finds 'gpu2.slow_memory 0.8' $'gpu_memory_slow gpu.memory memory_copy gpu2\ngpu_memory_slow gpu.memory memory_copy_together gpu2\ngpu_memory_slow gpu.memory memory_read gpu2\ngpu_memory_slow gpu.memory memory_triad gpu2\ngpu_memory_slow gpu.memory memory_write gpu2' \
    'slow memory' --tests=memory
finds 'gpu0.wrong_every 30' 'gpu_result_wrong gpu.repeatable wrong gpu0' 'an occasional wrong bit' --tests=repeatable
like "$(cat "$dir/json")" 'muster-gpu --devices=0 --tests=repeatable' '... with the command that repeats it'
finds 'gpu1.stuck_bit 4104' 'gpu_memory_wrong gpu.memory wrong gpu1' 'a stuck bit' --tests=memory
like "$(cat "$dir/json")" 'the first one at byte 0x1008: bits 0x10 differ' '... with address and bit'
finds 'gpu1.lost_add 1000' 'gpu_memory_wrong gpu.memory atomics gpu1' 'lost atomic additions' --tests=memory
like "$(cat "$dir/json")" '16384 atomic additions in the memory of .* gave [0-9]+ wrong counters, .* --devices=1 --tests=memory' \
    '... with the command that repeats it'
finds 'gpu.lost_add 1000' "$(printf 'not_measured gpu.memory atomics gpu%s\n' 0 1 2)" \
    "additions lost on all devices are attributed to no device" --tests=memory
finds 'gpu0.lost_add_to.2 1000' 'gpu_peer_damaged gpu.paths atomics gpu0 gpu2' 'additions lost on the path to another device' --tests=paths
finds $'gpu.no_atomics 1\ngpu0.lost_add_to.2 1000' '' '... only if the path has atomics according to the driver' --tests=paths
finds 'gpu0.slow_link.2 0.4' 'gpu_peer_slow gpu.paths to_peer gpu0 gpu2' 'a slow path between two devices' --tests=paths
finds 'gpu1.bad_link.0 1' $'gpu_peer_damaged gpu.paths to_peer gpu0 gpu1\ngpu_peer_damaged gpu.paths to_peer gpu1 gpu0' \
    'a path that damages data, found in both directions' --tests=paths
finds 'peers_most 1' '' 'a limit of peers at a time is not a fault' --tests=paths
finds 'gpu1.no_peer.2 1' 'gpu_no_peer_access gpu.paths to_peer gpu1 gpu2' 'missing peer access' --tests=paths
is "$status" 0 '... is a warning'
finds 'gpu1.slow_host 0.5' $'gpu_host_path_slow gpu.paths to_device gpu1\ngpu_host_path_slow gpu.paths to_host gpu1' \
    'a slow path to the host' --tests=paths
deadline=12 finds 'gpu1.hang_kernel 60' 'gpu_hung gpu.repeatable device gpu1' 'a kernel that hangs' --tests=repeatable
finds 'gpu1.memory_usable 2048' 'not_measured gpu.memory device gpu1' 'a device whose memory is in use is not tested' --tests=repeatable
is "$status" 3 '... with status 3'
finds 'gpu1.memory_usable 448' 'not_measured gpu.memory device gpu1' \
    '... nor a product without memory for its workspace, which is not a fault of the library' --tests=compute
finds 'gpu2.lost 1' 'gpu_failed gpu.compute device gpu2' 'a lost device' --tests=repeatable
finds 'gpu2.return.cuDevicePrimaryCtxRetain 2' 'not_measured gpu.compute device gpu2' \
    'a device without memory for a context is not tested' --tests=repeatable
is "$status" 3 '... with status 3'
deadline=3 finds 'gpu0.hang cuDevicePrimaryCtxRetain' 'not_measured gpu.compute device gpu0' \
    'a device that hangs while it is opened' --tests=repeatable
is "$(jq -r 'select(.metric == "products") | .part' "$dir/json" | xargs)" 'gpu1 gpu2' '... does not stop the tests of others'
finds 'return.cuInit 803' 'gpu_driver_mismatch gpu.compute device -' 'versions of driver and library that do not match'
finds 'crash cuLaunchKernel' $'gpu_library_crashed gpu.repeatable device gpu0\ngpu_library_crashed gpu.repeatable device gpu1\ngpu_library_crashed gpu.repeatable device gpu2' \
    'a driver that crashes' --tests=repeatable
finds 'devices 0' '- gpu.compute device -' 'without a device nothing is tested'
is "$status" 0 '... and it is not a fault'
mkdir "$dir/hide" # hides real libraries of this machine
printf x | tee "$dir/hide"/lib{nvrtc.so.13,cublasLt.so.13,nvidia-ml.so.1} >"$dir/hide/libnvrtc.so.12"
for libraries in old:'libcuda.so.1 is too old: missing function cuDevicePrimaryCtxSetFlags_v2' \
    driver:'libnvrtc.so.13 or an older one not found; set GpuLibraryPath'; do
    LD_LIBRARY_PATH=$dir/hide:${LD_LIBRARY_PATH-} gpu "${libraries%%:*}" ''
    is "$status/$text" '0/- gpu.compute device -' "libraries ${libraries%%:*}: devices are not tested"
    like "$(cat "$dir/json")" "${libraries#*:}" '... with the reason'
done
chmod 666 "$dir/driver/libcuda.so.1"
gpu driver ''
like "$(cat "$dir/json")" 'not tested: .*/driver/libcuda.so.1 is not loaded: .* mode 0666' \
    'a library that others can write is not loaded'
CUDA_VISIBLE_DEVICES='' gpu new ''
is "$status/$text" '0/- gpu.compute device -' 'in a job without devices nothing is tested'
gpu new $'devices 18\ngpu17.slow_link.16 0.4' --tests=paths
is "$status/$text" '1/gpu_peer_slow gpu.paths to_peer gpu17 gpu16' 'all of 18 devices are tested'
is "$(jq -r 'select(.metric == "to_peer") | .part' "$dir/json" | wc -l)" 36 '... each with its neighbors'
CUDA_VISIBLE_DEVICES=MIG-2,MIG-0 gpu new 'gpu0.wrong_every 30' --tests=repeatable,paths
is "$text" 'gpu_result_wrong gpu.repeatable wrong gpu1' 'each MIG instance is tested, numbered by its place in the list'
is "$(jq -r 'select(.metric == "products" or .metric == "to_peer") | "\(.metric) \(.part)"' "$dir/json" | xargs)" \
    'products gpu0' '... but no path between them'
gpu new '' --devices=1 --tests=repeatable
is "$(jq -r '.part // empty' "$dir/json" | sort -u)" gpu1 '--devices and --tests select a device and a test'
gpu new 'devices 4' --devices=0,2 --tests=paths
is "$(jq -r 'select(.metric == "to_peer") | .part' "$dir/json" | xargs)" 'gpu0 gpu2 gpu2 gpu0' \
    '... for two devices the paths between them'
gpu new $'gpu0.lost 1\ngpu2.lost 1' --devices=1 --tests=repeatable
is "$status/$text" 0/ '... faults of other devices do not matter'
mkdir "$dir/manager" "$dir/later"
cp -p "$dir/new"/* "$dir/manager"
library nvml.so manager/libnvidia-ml.so.1
reasons() { jq -r 'select(.verdict == "skip") | "\(.part // "-") \(.message)"' "$dir/json" | sort -u; }
measured() { jq -r 'select(.metric == "products") | .part' "$dir/json" | xargs; }
gpu manager $'gpu0.process 4711\ngpu0.slow_clock 0.5\ngpu2.memory_used 8000000000' --skip-busy
is "$status/$(measured)" 0/gpu1 '--skip-busy: devices in use are not tested, and not faulty'
is "$(reasons)" $'gpu0 NVIDIA H100 80GB HBM3 not tested: in use by 1 process\ngpu2 NVIDIA H100 80GB HBM3 not tested: 7629 MiB of its memory are in use' \
    '... with the reason'
until compgen -G "$dir/later/*" >/dev/null; do sleep 0.05; done && echo 'gpu1.process 4711' >>"$dir/state" &
gpu manager $'gpu1.slow_clock 0.5\ngpu1.clock 900\ngpu1.temperature 91\ngpu1.clock_reasons 64\ngpu1.power_limit 350000' --tests=compute
like "$(jq -r 'select(.metric == "rate_fp32" and .verdict == "fail") | "\(.part) \(.message)"' "$dir/json")" \
    '^gpu1 NVIDIA H100 80GB HBM3 reaches [0-9.e+]+, its peers [0-9.e+]+ GFLOP/s; at 900 of 1980 MHz, 91 C, thermal slowdown \(hardware\), limited to 350 of 700 W$' \
    'the possible reasons are reported with a slow device' || diag "$(cat "$dir/json")"
is "$(jq -r 'select(.test == "gpu.repeatable")' "$dir/json")" '' '... and no test is added'
gpu manager $'gpu1.slow_clock 0.5\ngpu1.nccl_slow 0.2\ncache '"$dir/later" --skip-busy
wait
is "$status/$(measured)" '0/gpu0 gpu2' 'a device that is used during the test is not judged'
is "$(reasons)" 'gpu1 NVIDIA H100 80GB HBM3 not tested: in use by 1 process' '... with the reason'
gpu manager 'gpu1.slow_clock 0.5' --skip-busy --tests=compute
is "$status/$(cut -d' ' -f1,4 <<<"$text" | sort -u)" '1/gpu_slow gpu1' '... an unused device is judged'
LD_LIBRARY_PATH=$dir/hide:${LD_LIBRARY_PATH-} gpu new '' --skip-busy --tests=compute
is "$status/$text" '0/- gpu.compute device -' 'if their use is unknown, no device is tested'
like "$(reasons)" 'not tested: cannot tell whether others use it: .' '... with the reason' # of any library that there is
gpu new ''
unset CUDA_VISIBLE_DEVICES
"$top_srcdir/tests/gpu/device" --quick --build "$top_builddir" --libraries "$dir/new" "$dir/device" >"$dir/said" 2>&1
is "$?" 0 'tests/gpu/device succeeds on stand-ins' || diag "$(cat "$dir/said")"
is "$(jq -r '[.driver, (.faults | length), (.steps | map(select(.name == "gpu-quick.json")) | length),
    (.figures | map(select(.metric == "rate_fp32")) | length)] | join("/")' "$dir/device/results.json")" \
    'stand-ins of tests/gpu/0/1/3' '... and its results have each device, and name the stand-ins'
ok '... with a recording of the node' test -s "$dir/device/node.tree"
for option in devices=x:'expected numbers from 0 to 127, such as 0-3,6, found "x"' \
    tests=fast:'expected some of compute,repeatable,memory,paths,collectives, found "fast"'; do
    like "$("$program" "--${option%%:*}" 2>&1)" "^muster-gpu: option --${option%%=*}: ${option#*:} " "--${option%%:*} is refused"
done
done_testing
