# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# devicefault.sh - faults that devices and the kernel report: accelerators by the stand-in of NVIDIA's
# library (tests/gpu), which a node has from its first such fault on, and entries of the kernel log.

# What the stand-in's state has of a device at fault, and the library's functions that never return or crash.
declare -rA gpu_faults=(
    [gpu-lost]='lost 1'
    [gpu-reset]='reset_required 1'
    [gpu-ecc]='ecc_volatile_uncorrected 2'
    [gpu-rows-pending]='rows_pending 1'
    [gpu-rows-failed]='rows_failed 1'
    [gpu-throttled]='clock_reasons 0x48'
    [gpu-hot]='temperature 95'
    [gpu-narrow]='pcie_width 8'
    [gpu-links]='links_down 2'
    [gpu-fabric]='fabric_health 2'
    [gpu-held]='memory_used 8000000000'
)
declare -rA gpu_library_faults=(
    [gpu-hung]='hang nvmlDeviceGetHandleByIndex_v2'
    [gpu-crash]='crash nvmlDeviceGetHandleByIndex_v2'
)

gpu_fault_kinds() {
    printf '%s\n' "${!gpu_faults[@]}" "${!gpu_library_faults[@]}" | sort
}

gpu_stand_in() { # NODE: eight good devices
    local conf
    conf=$(host_dir "$1")/etc/muster/muster.conf
    if [ ! -f "$state/gpu/libnvidia-ml.so.1" ]; then
        mkdir -p "$state/gpu"
        cc -shared -fPIC -O1 -fvisibility=hidden -I"$top" -o "$state/gpu/libnvidia-ml.so.1" "$top/tests/gpu/nvml.c"
    fi
    host_do "$1" sh -c 'test -e /etc/muster-gpu-state || echo devices 8 >/etc/muster-gpu-state'
    grep -q '^GpuLibraryPath=' "$conf" ||
        printf '%s\n' "GpuLibraryPath=$state/gpu" GpuDeadline=2s >>"$conf"
}

fault_gpu() { # KIND NODE [INDEX]
    local line index=${3:-3}
    fault_arguments "$1" $(($# - 1)) 1 2 'NODE [INDEX]'
    fault_node "$2"
    plain_number "$index" INDEX 0 7
    line=${gpu_library_faults[$1]-}
    [ -n "$line" ] || line="gpu$index.${gpu_faults[$1]}"
    fault_record "$1" "$2" "$index"
    gpu_stand_in "$2"
    # shellcheck disable=SC2016 # $1 is the inner shell's
    host_do "$2" sh -c 'echo "$1" >>/etc/muster-gpu-state' sh "$line"
    say "$2: the library of its accelerators has $line"
}

fault_kernel_log() { # NODE LINE
    fault_arguments kernel-log $# 2 2 'NODE LINE'
    fault_node "$1"
    fault_record kernel-log "$1"
    # shellcheck disable=SC2016 # $1 is the inner shell's
    host_do "$1" sh -c 'read -r up _ </proc/uptime
        echo "3,$(wc -l </dev/kmsg),${up%.*}${up#*.}0000,-;$1" >>/dev/kmsg' sh "$2"
    say "$1: the kernel's log has: $2"
}

devicefault_undo() { # KIND NODE ...
    case $1 in
    gpu-*)
        host_do "$2" rm -f /etc/muster-gpu-state
        sed -i '/^GpuLibraryPath=/d; /^GpuDeadline=2s$/d' "$(host_dir "$2")/etc/muster/muster.conf"
        ;;
    kernel-log) host_do "$2" sh -c ': >/dev/kmsg; rm -f /run/muster/kernel-log' ;;
    *) return 1 ;;
    esac
}
