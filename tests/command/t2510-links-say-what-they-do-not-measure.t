#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster-links measures at most 32 rails; it reports further ones as unknown. Runs in a network
# namespace, on virtual cables.
. "$(dirname "$0")/../tap.sh"

links=$(realpath "${top_builddir:-.}/muster-links")
[ -x "$links" ] || skip_all 'the battery is not built'
[ "$(id -u)" -eq 0 ] || skip_all 'needs root'
if [ "${1-}" != inside ]; then
    unshare -n -m true 2>/dev/null || skip_all 'no network namespaces here'
    exec unshare -n -m "$0" inside
fi
command -v ip >/dev/null || skip_all 'no ip(8)'
mount -t sysfs sysfs /sys 2>/dev/null || skip_all 'no sysfs of the namespace'
ip link set lo up
for ((i = 1; i <= 34; i++)); do
    ip link add v$i type veth peer name w$i 2>/dev/null || skip_all 'no virtual cables here'
    ip address add 10.9.$i.1/24 dev v$i
    ip link set v$i up
    ip link set w$i up
done
dir=$(mktemp -d)
tap_cleanup() { rm -r "$dir"; }
export MUSTER_CONF=$dir/conf
mpi_environment
unset PMIX_RANK OMPI_COMM_WORLD_RANK PMI_RANK SLURM_PROCID

unmeasured() { # LAST: prints the records of rails v1 to vLAST
    printf '%s\n' "FabricInterfaces=v[1-$1]" ManagementInterface=lo >"$MUSTER_CONF"
    timeout -k 5 600 "$links" --json --quick --time-limit=300 2>&1 </dev/null
}
like "$(unmeasured 34)" '"unknown",.*"message":"2 of its 34 rails not measured, at most 32 are' \
    'two rails too many are reported as unknown'
slow=$(realpath "${top_builddir:-.}/tests/command/slow-ucx.so")
nm -D "$slow" | grep -q __asan && slow= # the sanitizer cannot be preloaded
text=$(LD_PRELOAD=$slow unmeasured 32)
unlike "$text" 'rails not measured' '32 rails are all measured'
unlike "$text" 'process_hung' '... and opening them slowly is not a hang'
done_testing
