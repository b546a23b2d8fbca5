#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A real slurmctld accepts the topology.conf that muster writes for a subnet with three levels, and has
# every node under the leaf where its cable is. With MUSTER_LAB_RELEASE=unstable, whose Slurm has
# topology.yaml, tests that instead (tests/lab/root unstable makes what it needs).
. "$(dirname "$0")/../tap.sh"

top=$(cd -P "$(dirname "$0")/../.." && pwd)
release=${MUSTER_LAB_RELEASE:-bookworm} form=conf in_root=()
if [ "$release" != bookworm ]; then
    # shellcheck source=../lab/release.sh
    . "$top/tests/lab/release.sh"
    release_choose "$release"
    [ -d "$root" ] || skip_all "no $root: tests/lab/root $release makes it"
    [ "$release" = trixie ] || form=yaml
    # shellcheck disable=SC2016
    in_root=(unshare --mount bash -c '. "$1/tests/lab/change-root.sh"
        mount --make-rprivate / && change_root "$2" "$3" "$1" && shift 3 && PATH=$PATH:/usr/sbin exec "$@"' sh)
fi
muster=$top/.lab/prefix/bin/muster
[ -x "$muster" ] || bail "$muster is not there: make install, or ./quickstart"
for word in slurmctld scontrol munged python3; do
    command -v $word >/dev/null || [ -x /usr/sbin/$word ] || skip_all "no $word"
done
[ "$(id -u)" -eq 0 ] || skip_all 'slurmctld and munged need root'
dir=$(mktemp -d -p "$top/.lab") || bail 'no folder to work in'
[ "$form" = conf ] || ! "$muster" topology --fabric --from /dev/null -t "$dir/none.yaml" 2>&1 | grep -q 'without libyaml' ||
    skip_all 'muster was built without libyaml'
[ ${#in_root[@]} -eq 0 ] || in_root+=("$top" "$dir/root" "$root")
tap_cleanup() {
    local file pid
    for file in "$dir"/slurmctld.pid "$dir"/munged.pid; do
        [ -s "$file" ] || continue
        pid=$(<"$file")
        kill "$pid"
        while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
    done
    rm -rf "$dir"
}

python3 "$top/tests/fabric/make-subnet" --nodes 96 --per-leaf 8 --spines 4 --pods 3 \
    --fault 'misplaced n6 0 leaf3' >"$dir/net"
"$muster" topology --fabric --from "$dir/net" --write-topology "$dir/topology.$form" >/dev/null
mkdir "$dir/state" "$dir/munge"
head -c 128 /dev/urandom >"$dir/munge/key"
chmod 600 "$dir/munge/key"
chmod 711 "$dir"
"${in_root[@]}" munged --force --key-file="$dir/munge/key" --socket="$dir/munge/socket" --pid-file="$dir/munged.pid" \
    --log-file="$dir/munge/log" --seed-file="$dir/munge/seed" || bail 'munged does not start'
port=$((20000 + RANDOM % 10000))
cat >"$dir/slurm.conf" <<EOF
ClusterName=fabric
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
StateSaveLocation=$dir/state
SlurmctldPidFile=$dir/slurmctld.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmctldPort=$port
SlurmdPort=$((port + 1))
TopologyPlugin=topology/tree
ProctrackType=proctrack/linuxproc
NodeName=n[1-96] NodeAddr=127.0.0.1 State=UNKNOWN
PartitionName=all Nodes=ALL
EOF
export SLURM_CONF=$dir/slurm.conf
timeout 60 "${in_root[@]}" slurmctld -f "$SLURM_CONF" || bail "slurmctld does not start: $(tail -n 3 "$dir/slurmctld.log")"
topology=
for ((i = 0; i < 100; i++)); do
    topology=$(timeout 10 "${in_root[@]}" scontrol -o show topology 2>/dev/null) && [ -n "$topology" ] && break
    sleep 0.1
done
is "$(grep -c 'Level=0' <<<"$topology")" 12 'twelve leaves'
like "$topology" '^SwitchName=leaf1 Level=0 .*Nodes=n\[1-5,7-8\]' 'a leaf without the node that is plugged in elsewhere'
like "$topology" '^SwitchName=leaf3 Level=0 .*Nodes=n\[6,17-24\]' '... and the one that has it'
like "$topology" '^SwitchName=spine-2 Level=1 .*Nodes=n\[65-96\] Switches=leaf\[9-12\]' 'spines join the leaves of a pod'
like "$topology" '^SwitchName=core Level=2 .*Nodes=n\[1-96\] Switches=spine,spine-\[1-2\]' 'cores join all'
is "$(grep -Ei 'fatal|topology|switch' "$dir/slurmctld.log" | grep -Eiv 'topology tree plugin loaded|switch.*none|TOPOLOGY: ' | head -n 3)" '' 'slurmctld logs no error'

done_testing
