#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster-gpu lets RDMA ports write and read the memory of GPUs (stand-ins of libcuda, whose
# memory is registered in place of a dma-buf). It verifies the data; memory that cannot be registered is
# reported, and is no fault.
. "$(dirname "$0")/testguest.sh"
stand_ins=$top/.lab/build/tests/gpu
[ -e "$stand_ins/dmabuf.so" ] || skip_all 'the stand-ins are not built'
[ -x "$prefix/bin/muster-gpu" ] || skip_all 'muster-gpu is not built'
mkdir "$work/libraries"
cp "$stand_ins/cuda.so" "$work/libraries/libcuda.so.1"
cp "$stand_ins/nvrtc.so" "$work/libraries/libnvrtc.so.12"
export stand_ins

# shellcheck disable=SC2016
facts() {
    export MUSTER_GPU_STATE=/run/state HWLOC_COMPONENTS=-pci
    gpu() { # NAME STATE
        echo "== $1"
        printf '%s\n' 'devices 3' "cache $work" "$2" >/run/state
        printf '%s\n' 'FabricInterfaces=rxe1,rxe2' "GpuLibraryPath=$work/libraries" 'GpuDeadline=60s' >/run/muster.conf
        MUSTER_CONF=/run/muster.conf MUSTER_ALLOW_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
            LD_PRELOAD=${preload-$stand_ins/dmabuf.so} "$prefix/bin/muster-gpu" --json --tests=paths --time-limit=170
        echo "status $?"
    }
    gpu healthy ''
    gpu 'another memory' 'gpu1.bad_nic 1'
    gpu 'no dma-buf' 'gpu.no_dma_buf 1'
    preload='' gpu refused ''
}

in_guest facts --time-limit 400
is "$status" 0 'a guest with two ports' || sed 's/^/# /' "$work/err"
paths() { # SECTION FILTER
    section "$1" | jq -Rr "fromjson? | select(.test == \"gpu.paths\") | $2"
}

for figure in nic_loopback nic_to_device nic_from_device; do
    is "$(paths healthy "select(.metric == \"$figure\" and .value > 0) | \"\(.part) \(.verdict)\"" | xargs)" \
        'gpu0 pass gpu1 pass gpu2 pass' "$figure of all GPUs"
done
like "$(section healthy)" '^status 0$' '... and it passes'
records_are_in_schema healthy '... with records as doc/records.md has them'
like "$(paths 'another memory' 'select(.verdict != "pass") | "\(.code) \(.part): \(.message)"')" \
    '^gpu_nic_damaged gpu1: data between rxe[12]:1 and the memory of NVIDIA H100 80GB HBM3 was damaged, first at byte 0: ' \
    'data that does not arrive in the memory of one GPU of three is named' || section 'another memory' | sed 's/^/# /'
is "$(paths 'no dma-buf' 'select(.metric | startswith("nic_")) | "\(.part) \(.metric) \(.verdict)"' | sort | xargs -n 3)" \
    'gpu0 nic_from_device pass
gpu0 nic_loopback pass
gpu0 nic_to_device pass
gpu1 nic_from_device pass
gpu1 nic_loopback pass
gpu1 nic_to_device pass
gpu2 nic_from_device pass
gpu2 nic_loopback pass
gpu2 nic_to_device pass' 'without a dma-buf memory is registered at its address'
like "$(paths refused 'select(.metric == "nic") | "\(.verdict) \(.message)"')" \
    '^skip paths between NICs and GPUs not tested: rxe[12]:1 cannot register memory of the GPU by dma-buf: ' \
    'a driver that refuses is reported'
like "$(section refused)" '^status 0$' '... and is no fault'
done_testing
