#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster-gpu with the stand-ins for HIP, hipRTC, hipBLASLt and RCCL (tests/gpu): healthy devices pass, a
# fault is named with its device, and a library that is missing, too old or wrong is not a fault of a device.
. "$(dirname "$0")/gpu.sh"
mkdir "$dir"/{new,old,driver,both,no-blas,no-rccl,rccl-old}
library cuda-hip.so new/libamdhip64.so.6
library nvrtc-hip.so new/libhiprtc.so.6
library cublaslt-hip.so new/libhipblaslt.so.0
library nccl-hip.so new/librccl.so.1
cp -p "$dir/new"/* "$dir/both"
library cuda.so both/libcuda.so.1
library nvrtc.so both/libnvrtc.so.12
cp -p "$dir/new"/lib{amdhip64,hiprtc,rccl}.* "$dir/no-blas"
cp -p "$dir/new"/lib{amdhip64,hiprtc,hipblaslt}.* "$dir/no-rccl"
cp -p "$dir/new"/* "$dir/rccl-old"
library nccl-hip-old.so rccl-old/librccl.so.1
library cuda-hip-old.so old/libamdhip64.so.6
library cuda-hip.so driver/libamdhip64.so.6
# hides real libraries of this machine
mkdir "$dir/hide"
printf x | tee "$dir/hide"/lib{hiprtc.so.7,hiprtc.so.6,hipblaslt.so.1,hipblaslt.so.0,rccl.so.1,cuda.so.1} >"$dir/hide/libamdhip64.so.7"
export LD_LIBRARY_PATH=$dir/hide:${LD_LIBRARY_PATH-}

gpu new 'races 1'
is "$status/$text" 0/ 'healthy devices pass' || diag "$(cat "$dir/err" "$dir/json")"
is "$(jq -r 'select(.part == "gpu2") | .metric' "$dir/json" | sort | tr '\n' ' ')" \
    'atomics memory_copy memory_copy_together memory_read memory_triad memory_write products rate_bf16 rate_bf16_together rate_fp16 rate_fp32 rate_fp32_together rate_fp64 rate_fp64_blas rate_fp64_together rate_fp8 rate_int8 rate_tf32 tested to_device to_host ' \
    '... in all judged figures'
is "$(jq -r 'select(.test == "gpu.collectives" and .verdict == "pass") | .metric' "$dir/json" | sort | xargs)" \
    'all_gather all_reduce all_to_all broadcast reduce_scatter' '... and all collectives'
is "$(jq -r 'select(.metric == "to_peer") | .part' "$dir/json" | wc -l)" 6 '... and each pair in both directions'
gpu both 'vendor amd' --tests=compute
is "$status/$text" 0/ "a driver of CUDA that finds no device leaves them to HIP"
is "$(jq -r 'select(.metric == "rate_fp8") | .part' "$dir/json" | xargs)" 'gpu0 gpu1 gpu2' '... which tests all of them'

finds 'gpu1.slow_memory 0.7' $'gpu_memory_slow gpu.memory memory_copy gpu1\ngpu_memory_slow gpu.memory memory_copy_together gpu1\ngpu_memory_slow gpu.memory memory_read gpu1\ngpu_memory_slow gpu.memory memory_triad gpu1\ngpu_memory_slow gpu.memory memory_write gpu1' \
    'slow memory' --tests=memory
finds 'gpu2.slow_tensor 0.8' "$(printf 'gpu_slow gpu.compute rate_%s gpu2\n' bf16 bf16_together fp16 fp64_blas fp8 int8 tf32)" \
    'slow matrix units' --tests=compute
finds 'gpu0.wrong_every 30' 'gpu_result_wrong gpu.repeatable wrong gpu0' 'an occasional wrong bit' --tests=repeatable
finds 'gpu0.blas_wrong 1' 'gpu_result_wrong gpu.compute wrong gpu0' "a wrong product of the vendor's library" --tests=compute
finds 'gpu.blas_wrong 1' "$(printf 'not_measured gpu.compute wrong gpu%s\n' 0 1 2)" "a wrong product on all devices is attributed to no device" --tests=compute
finds 'gpu0.slow_link.2 0.4' 'gpu_peer_slow gpu.paths to_peer gpu0 gpu2' 'a slow path between two devices' --tests=paths
finds 'gpu1.no_peer.2 1' 'gpu_no_peer_access gpu.paths to_peer gpu1 gpu2' 'missing peer access' --tests=paths
finds 'gpu2.lost 1' 'gpu_failed gpu.compute device gpu2' 'a lost device' --tests=repeatable
like "$(cat "$dir/json")" 'hipErrorUnknown \(999\)' "... with HIP's name of the error"

finds 'blas_without 28' '' 'devices with the FNUZ variant of E4M3 pass' --tests=compute
is "$(jq -r 'select(.metric == "rate_fp8") | .verdict' "$dir/json" | sort -u)" pass '... with correct products'
finds 'blas_without 28 1000' '' 'a precision that the devices lack is not a fault' --tests=compute
is "$(jq -r 'select(.metric == "rate_fp8")' "$dir/json" | wc -l)" 0 '... and has no record'

finds 'return.hipblasLtCreate 6' '- gpu.compute library -' "a library of products that does not work is not a fault of a device" --tests=compute
like "$(cat "$dir/json")" "not tested: hipblasLtCreate: error 6" '... with the reason'
finds 'return.hiprtcCompileProgram 6' '- gpu.compute device -' '... nor a compiler' --tests=compute
like "$(cat "$dir/json")" 'libhiprtc.so.6 cannot compile the kernels for gfx942:sramecc\+:xnack-: error 6' '... with the reason'
gpu no-blas '' --tests=compute
is "$status/$text" '0/- gpu.compute library -' '... nor a missing library'
like "$(cat "$dir/json")" 'libhipblaslt.so.1 or an older one not found; set GpuLibraryPath' '... with the reason'
for libraries in no-rccl:'librccl.so.1 not found; set GpuLibraryPath' rccl-old:'librccl.so.1 is too old: missing function ncclSend'; do
    gpu "${libraries%%:*}" '' --tests=collectives
    is "$status/$text" '0/- gpu.collectives library -' "libraries ${libraries%%:*}: collectives are not tested"
    like "$(cat "$dir/json")" "${libraries#*:}" '... with the reason'
done
for libraries in old:'libamdhip64.so.6 is too old: missing function hipGetDevicePropertiesR0600' \
    driver:'libhiprtc.so.7 or an older one not found; set GpuLibraryPath'; do
    gpu "${libraries%%:*}" ''
    is "$status/$text" '0/- gpu.compute device -' "libraries ${libraries%%:*}: devices are not tested"
    like "$(cat "$dir/json")" "${libraries#*:}" '... with the reason'
done

printf '%s\n' 'vendor amd' 'devices 2' "cache $dir" >"$dir/state"
"$top_srcdir/tests/gpu/device" --quick --build "$top_builddir" --libraries "$dir/new" "$dir/device" >"$dir/said" 2>&1
is "$?" 0 'tests/gpu/device succeeds' || diag "$(cat "$dir/said")"
is "$(jq -r '.figures | map(select(.metric == "rate_fp32") | .part) | join(" ")' "$dir/device/results.json")" 'gpu0 gpu1' \
    '... and its results have each device'
done_testing
