#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster check --nagios and --health: one line and the exit status of a monitoring plugin; no output if
# all is well.
. "$(dirname "$0")/command.sh"
needs muster

node=$dir/node
"$top_srcdir/tests/fixtures/unpack" "$top_srcdir/tests/fixtures/lab-node.tree" "$node"
nagios() { text=$("$muster" check --nagios --root "$node" "$@" 2>"$dir/errors"); }

nagios --only net
is "$? $(wc -l <<<"$text")" '0 1' 'a healthy node: 0 and one line'
like "$text" '^MUSTER OK - [0-9]+ checks passed\|time=[0-9.]+s;1 failed=0;;0 unknown=0 warned=0;0 passed=[0-9]+$' \
    '... with performance data after the bar'
echo 1500 >"$node/sys/class/net/eth2/mtu"
nagios --only net
is "$?" 1 'a warning: 1'
like "$text" '^MUSTER WARNING - net.interfaces eth2: .*; 0 failed, 0 unknown, 1 warned of ' '... which is named'
mv "$node/etc/slurm/slurm.conf" "$dir/slurm.conf" && mkdir "$node/etc/slurm/slurm.conf"
nagios --only net,slurm
is "$?" 3 'unknown takes precedence over a warning: 3'
like "$text" '^MUSTER UNKNOWN - slurm.gres: .*; net.interfaces eth2: ' '... and the worst comes first'
echo 0 >"$node/sys/class/net/eth1/carrier"
nagios --only net,slurm
is "$? $(wc -l <<<"$text")" '2 1' 'a failure takes precedence over all others: 2'
like "$text" '^MUSTER CRITICAL - net.interfaces eth1: eth1 has no carrier' '... and comes first'
is "$(tr -cd '|' <<<"$text" | wc -c)" 1 'there is only one bar'
echo 'Nonsense=1' >"$dir/conf"
nagios --config "$dir/conf"
is "$?" 3 'a bad configuration is unknown, not critical'
like "$text" '^MUSTER UNKNOWN - the check did not run' '... in the same format'
like "$(cat "$dir/errors")" 'Nonsense' '... and the error is on standard error'

"$muster" check --nagios --json >/dev/null 2>"$dir/errors"
is "$?" 2 'two output formats are a usage error'
like "$(cat "$dir/errors")" 'mutually exclusive' '... in one line'
"$muster" check --health --root "$node" >/dev/null 2>"$dir/errors"
is "$?" 2 '--health is not for recorded nodes'

# This machine, with a rail that it does not have
: >"$dir/conf"
text=$("$muster" check --health --config "$dir/conf" --only host.clock 2>&1)
is "$? $text" '0 ' '--health prints nothing if nothing failed'
health_net() { # a missing rail fails in the third check in a row, earlier if others have run it here
    for _ in {1..9}; do
        text=$("$muster" check --health --config "$dir/conf" --only net --node x7 2>&1) || return
    done
}
printf '%s\n' 'FabricInterfaces=nowhere9' "CertificateFile=$dir/none/certificate" >"$dir/conf" # keeps no evidence
health_net
is "$?" 1 '... and exits with 1 if something failed'
is "$text" "muster check: x7: net.interfaces nowhere9: nowhere9 is not on this node; FabricInterfaces of the \
configuration names it" '... with a line of node, part and fault, without a controller'
printf '%s\n' 'FabricInterfaces=nowhere[1-5]' "CertificateFile=$dir/none/certificate" >"$dir/conf"
health_net
is "$(sed -n '4p;$=' <<<"$text")" \
    $'muster check: x7: and 2 more failed; run muster check\n4' 'more than three faults are counted'
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
    cat >"$dir/on-a-full-run" <<END
mkdir -p /run/muster && mount -t tmpfs -o nr_inodes=2 tmpfs /run/muster && : >/run/muster/absences || exit 99
"$muster" check --health --config "$dir/conf" --only net --node x7
[ -e /run/muster/absences ] && echo stays || echo goes
END
    text=$(unshare -m sh "$dir/on-a-full-run" 2>&1)
    like "$text" 'x7: cannot save the list of missing parts: .*No space left' 'a full /run is reported'
    is "$(tail -n 1 <<<"$text")" goes '... and the list of the previous check is removed'
    cat >"$dir/by-turns" <<END
mkdir -p /run/muster && mount -t tmpfs tmpfs /run/muster || exit 99
for only in net host.clock net host.clock net; do
    "$muster" check --health --config "$dir/conf" --only \$only >/dev/null
    printf '%s ' \$?
done
cp /run/muster/onset /run/muster/before
"$muster" check --health --config "$dir/conf" --only host.clock
cmp -s /run/muster/onset /run/muster/before && printf 'stays '
: >"$dir/conf"
"$muster" check --health --config "$dir/conf" --only net >/dev/null
[ -e /run/muster/onset ] || echo ends
END
    text=$(unshare -m sh "$dir/by-turns" 2>&1)
    is "${text:0:9}" '0 0 0 0 1' 'checks of other tests between do not reset the count'
    is "${text:10}" 'stays ends' '... nor the time since when the fault lasts, which a check of its test does'
else
    skip 4 'no mount namespace here'
fi

# Accelerators, with a stand-in for NVML (tests/gpu)
mkdir "$dir/nvml"
library=$(realpath "$top_builddir/tests/gpu/nvml.so" 2>/dev/null)
if [ -e "$library" ]; then
    cp "$library" "$dir/nvml/libnvidia-ml.so.1" # a copy, because the tree may belong to another user
    export MUSTER_GPU_STATE=$dir/state
    printf 'GpuLibraryPath=%s\nGpuDeadline=30s\nCertificateFile=/none/none\n' "$dir/nvml" >"$dir/conf"
    gpus() { text=$("$muster" check --config "$dir/conf" --only gpu.health --node x7 "$@" 2>&1); }
    echo 'devices 8' >"$dir/state"
    gpus
    is "$?" 0 'eight healthy accelerators pass'
    like "$text" '8 NVIDIA devices without faults according to .*/libnvidia-ml.so.1 13.580.65.06$' '... with the version of their library'
    like "$("$muster" check --config "$dir/conf" --only host.config)" 'gpu.power_limit *gpu7 *700 W|gpu.power_limit *gpu7 *700' \
        '... and facts for comparison are printed'
    mkdir "$dir/first"
    printf 'GpuLibraryPath=%s\nGpuDeadline=30s\nCertificateFile=/none/none\n' "$dir/none:$dir/first:$dir/nvml" >"$dir/conf"
    gpus
    like "$text" 'faults according to .*/nvml/libnvidia-ml.so.1 ' '... from the first directory that has it'
    cp "$library" "$dir/first/libnvidia-ml.so.1"
    chmod 777 "$dir/first"
    gpus
    is "$?" 3 'a library in a directory that others can write: status 3'
    like "$text" 'libnvidia-ml.so.1 was not queried: the directory .*/first is writable by others .mode 0777.' \
        '... it is not loaded'
    rm -r "$dir/first"
    echo 'gpu3.rows_failed 1' >>"$dir/state"
    gpus --health
    is "$?" 1 'a fault of one accelerator: 1'
    is "$text" 'muster check: x7: gpu.health gpu3: NVIDIA H100 80GB HBM3 at 0000:5d:00.0 has a bad memory row that could not be remapped' \
        '... which is named'
    gpus --json
    like "$text" '"part":"gpu3","verdict":"fail","code":"gpu_row_remap_failed","remediation":"call_vendor"' '... with its code'
    echo 'hang nvmlDeviceGetRemappedRows' >"$dir/state"
    sed -i 's/GpuDeadline=30s/GpuDeadline=3s/' "$dir/conf"
    gpus
    is "$?" 3 'a driver that does not answer: status 3'
    like "$text" 'no answer within 3 s in nvmlDeviceGetRemappedRows of device 0' '... with function and device'
    sed -i 's/GpuDeadline=3s/GpuDeadline=30s/' "$dir/conf"
    echo 'crash nvmlDeviceGetRemappedRows' >"$dir/state"
    gpus --json
    is "$?" 3 'a library that crashes: status 3'
    like "$text" '"code":"gpu_library_crashed"' '... and muster goes on'
    rm "$dir/state"
    gpus
    is "$?" 0 'a missing driver is not a fault'
    like "$text" 'was not queried: no driver found' '... and is reported'
else
    skip 12 'tests/gpu is not built'
fi

# The libraries of the other vendors, with their stand-ins
vendor() { # STAND-IN LIBRARY NAME FAULT CODE FUNCTION FACT
    local library
    library=$(realpath "$top_builddir/tests/gpu/$1.so" 2>/dev/null)
    [ -e "$library" ] || { skip 8 'tests/gpu is not built' && return; }
    mkdir "$dir/$1"
    cp "$library" "$dir/$1/$2"
    printf 'GpuLibraryPath=%s\nGpuDeadline=30s\nCertificateFile=/none/none\n' "$dir/$1" >"$dir/conf"
    echo 'devices 8' >"$dir/state"
    gpus
    is "$?" 0 "eight healthy devices of $3 pass"
    like "$text" "8 $3 devices without faults according to .*/$2 [0-9]" '... with the version of their library'
    like "$("$muster" check --config "$dir/conf" --only host.config)" "$7" '... and facts for comparison are printed'
    echo "gpu3.$4 1" >>"$dir/state"
    gpus --json
    like "$text" "\"part\":\"gpu3\",\"verdict\":\"[a-z]*\",\"code\":\"$5\"" "$4 has the code $5"
    echo "hang $6" >"$dir/state"
    sed -i 's/GpuDeadline=30s/GpuDeadline=3s/' "$dir/conf"
    gpus
    is "$?" 3 'a driver that does not answer: status 3'
    like "$text" "no answer within 3 s in $6 of device 0" '... with function and device'
    sed -i 's/GpuDeadline=3s/GpuDeadline=30s/' "$dir/conf"
    echo "crash $6" >"$dir/state"
    gpus --json
    is "$?" 3 'a library that crashes: status 3'
    like "$text" '"code":"gpu_library_crashed"' '... and muster goes on'
}
vendor amdsmi libamd_smi.so AMD rows_failed gpu_row_remap_failed amdsmi_get_temp_metric 'gpu.partition *gpu7 *SPX/NPS1'
vendor rsmi librocm_smi64.so AMD rows_pending gpu_row_remap_pending rsmi_dev_temp_metric_get 'gpu.power_limit *gpu7 *560'
vendor hlml libhlml.so Gaudi lost gpu_lost hlml_device_get_replaced_rows 'gpu.links *gpu7 *21'
done_testing
