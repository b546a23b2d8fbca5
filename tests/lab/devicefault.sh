# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# devicefault.sh - faults of accelerators, and entries of the kernel log. The accelerators are stand-ins of the
# vendors' libraries (tests/gpu): NVIDIA's, unless --gpus=amd or gpu-vendor selects others. A node has them from
# `up --gpus` on, or from its first such fault on.

# The line of the stand-ins' state for each fault of a device; then that for each fault of the library, which
# lists the functions that hang or crash.
declare -rA gpu_faults=(
    [gpu-slow]='slow_clock 0.5'
    [gpu-slow-memory]='slow_memory 0.55'
    [gpu-wrong]='wrong_every 30'
    [gpu-memory]='stuck_bit 4104'
    [gpu-hang]='hang_kernel 40'
    [gpu-collectives-slow]='nccl_slow 0.5'
    [gpu-collectives-wrong]='nccl_wrong 1'
    [gpu-collectives-hang]='nccl_hang 1'
    [gpu-lost]='lost_at 40'
    [gpu-off]='lost 1'
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
    [gpu-hung]='hang nvmlDeviceGetHandleByIndex_v2 amdsmi_get_gpu_device_bdf rsmi_dev_pci_id_get hlml_device_get_handle_by_index'
    [gpu-crash]='crash nvmlDeviceGetHandleByIndex_v2 amdsmi_get_gpu_device_bdf rsmi_dev_pci_id_get hlml_device_get_handle_by_index'
)

# The management libraries of the other vendors: vendor of the state, file name, stand-in.
declare -rA gpu_vendors=(
    [amd]='amd libamd_smi.so amdsmi.c'
    [rocm]='amd librocm_smi64.so rsmi.c'
    [gaudi]='gaudi libhlml.so hlml.c'
)

gpu_fault_kinds() {
    printf '%s\n' "${!gpu_faults[@]}" "${!gpu_library_faults[@]}" gpu-link gpu-old-library gpu-vendor | sort
}

gpu_library() { # DIRECTORY NAME SOURCE [OPTION...]
    local file=$state/$1/$2
    [ ! -f "$file" ] || return 0
    install -d -m 755 "$state/$1"
    cc -shared -fPIC -O2 -fvisibility=hidden -I"$top" -Wl,-soname,"${3%.c}.so" "${@:4}" -o "$file.new" "$top/tests/gpu/$3" -ldl
    mv "$file.new" "$file"
}

hip_library() { # NAME SOURCE [OPTION...]
    gpu_library gpu-amd "$1" "$2" -DSTAND_IN_HIP -Wl,-soname,"${2%.c}-hip.so" "${@:3}"
}

gpu_libraries() {
    if [ "$stand_ins" = amd ]; then
        gpu_library gpu-amd libamd_smi.so amdsmi.c
        hip_library libamdhip64.so.6 cuda.c
        hip_library libhiprtc.so.6 nvrtc.c
        hip_library libhipblaslt.so.0 cublaslt.c
        hip_library librccl.so.1 nccl.c -pthread
        return
    fi
    gpu_library gpu libnvidia-ml.so.1 nvml.c
    gpu_library gpu libcuda.so.1 cuda.c
    gpu_library gpu libnvrtc.so.12 nvrtc.c
    gpu_library gpu libcublasLt.so.12 cublaslt.c
    gpu_library gpu libnccl.so.2 nccl.c -pthread
}

gpu_state_good() { # NODE
    printf '%s\n' "devices $gpus" 'files /dev/gpu' 'cache /tmp' "vendor ${stand_ins/#no/nvidia}" | host_do "$1" sh -c 'cat >/etc/muster-gpu-state'
}

# Makes a node find the libraries of DIRECTORY, or none if it is empty. Copies them, because the source tree may
# not belong to root.
gpu_conf() { # NODE DIRECTORY
    local conf
    conf=$state/$1/etc/muster/muster.conf
    rm -rf "${conf%/*}/gpu" "${conf%/*}/gpu-"*
    [ -z "$2" ] || cp -a "$state/$2" "${conf%/*}/"
    sed -i '/^GpuLibraryPath=/d; /^GpuDeadline=8s$/d' "$conf"
    [ -z "$2" ] || printf '%s\n' "GpuLibraryPath=/etc/muster/$2" GpuDeadline=8s >>"$conf"
}

gpu_directory() {
    [ "$stand_ins" = amd ] && echo gpu-amd || echo gpu
}

gpu_stand_in() { # NODE: gives it eight good devices, unless it has stand-ins
    gpu_libraries
    host_do "$1" test -e /etc/muster-gpu-state || gpu_state_good "$1"
    grep -q '^GpuLibraryPath=' "$state/$1/etc/muster/muster.conf" || gpu_conf "$1" "$(gpu_directory)"
}

gpu_inject() { # NODE LINE
    # shellcheck disable=SC2016 # $1 is the inner shell's
    host_do "$1" sh -c 'echo "$1" >>/etc/muster-gpu-state' sh "$2"
    print_info "$1: the stand-in of its accelerators has $2"
}

fault_gpu_vendor() { # NODE VENDOR
    local vendor library source
    fault_arguments gpu-vendor $# 2 2 'NODE VENDOR'
    fault_node "$1"
    [ -n "${gpu_vendors[$2]-}" ] || usage_error "no accelerators of '$2', there are ${!gpu_vendors[*]}"
    read -r vendor library source <<<"${gpu_vendors[$2]}"
    fault_record gpu-vendor "$1" "$2"
    gpu_stand_in "$1"
    gpu_library "gpu-$2" "$library" "$source"
    gpu_conf "$1" "gpu-$2"
    gpu_inject "$1" "vendor $vendor"
}

fault_gpu() { # KIND NODE [INDEX]
    local index=${3:-3} next
    if [ "$1" = gpu-vendor ]; then
        fault_gpu_vendor "${@:2}"
        return
    fi
    fault_arguments "$1" $(($# - 1)) 1 2 'NODE [INDEX]'
    fault_node "$2"
    plain_number "$index" INDEX 0 $((gpus - 1))
    fault_record "$1" "$2" "$index"
    gpu_stand_in "$2"
    next=$(((index + 1) % gpus))
    case $1 in
    gpu-link)
        gpu_inject "$2" "gpu$index.slow_link.$next 0.4"
        gpu_inject "$2" "gpu$next.slow_link.$index 0.4"
        ;;
    gpu-old-library)
        gpu_library gpu-old libnvidia-ml.so.1 nvml.c
        gpu_library gpu-old libcuda.so.1 cuda.c -DSTAND_IN_OLD
        gpu_conf "$2" gpu-old
        print_info "$2: libcuda.so.1 is older than what muster needs"
        ;;
    *) gpu_inject "$2" "${gpu_library_faults[$1]:-gpu$index.${gpu_faults[$1]-}}" ;;
    esac
}

fault_kernel_log() { # NODE LINE
    fault_arguments kernel-log $# 2 2 'NODE LINE'
    fault_node "$1"
    fault_record kernel-log "$1"
    # shellcheck disable=SC2016 # $1 is the inner shell's
    host_do "$1" sh -c 'read -r up _ </proc/uptime
        echo "3,$(wc -l </dev/kmsg),${up%.*}${up#*.}0000,-;$1" >>/dev/kmsg' sh "$2"
    print_info "$1: the kernel's log has: $2"
}

devicefault_undo() { # KIND NODE ...
    case $1 in
    gpu-*)
        if [ "$stand_ins" != no ]; then
            gpu_state_good "$2"
            gpu_conf "$2" "$(gpu_directory)"
        else
            host_do "$2" rm -f /etc/muster-gpu-state
            gpu_conf "$2" ''
        fi
        ;;
    kernel-log) host_do "$2" sh -c ': >/dev/kmsg; rm -f /run/muster/kernel-log' ;;
    *) return 1 ;;
    esac
}
