#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster check on a node of a real cluster: a healthy node passes; with a fault the faulty part is named,
# and no other.
. "$(dirname "$0")/../lab/testlab.sh"

muster=${top_builddir:-.}/muster
[ -x "$muster" ] || skip_all 'muster is not built'
lab_up -n 2
cp "$muster" "$work/muster" || bail 'muster cannot be copied into the lab'

# muster of another prefix has no state
for node in n1 n2; do
    lab on $node sh -c 'grep -q ^CertificateFile= "$1" || echo CertificateFile=/var/lib/muster/certificate >>"$1"' \
        conf /etc/muster/muster.conf
done

check() { # NODE [OPTION...]
    local node=$1
    shift
    lab on "$node" env MUSTER_CONF=/etc/muster/muster.conf "$work/muster" check "$@"
}

# Prints what did not pass, without skipped checks.
bad() { check "$@" | grep -E '^(fail|warn|unknown)'; }

healthy() {
    local node
    for node in n1 n2; do
        is "$(bad "$node")" '' "$1: nothing is wrong on $node"
    done
}

healthy 'before'
text=$(check n1)
is "$?" 0 'a healthy node is status 0'
like "$text" '^pass +net.interfaces  eth1 ' 'its first rail passes'
like "$text" '^pass +net.interfaces  eth2 ' 'its second rail passes'
unlike "$text" ' eth0 ' 'the management interface is not a rail'
like "$text" '^pass +slurm.gres +gpu +gpu:8, ' 'its GPUs pass'
like "$text" '^pass +host.munge ' 'MUNGE passes'

names() { # TEST PART STATUS FAULT...: the findings on n1, and none on n2
    local test=$1 part=$2 status=$3 text
    shift 3
    lab fault "$@" >/dev/null || bail "lab fault $*"
    text=$(check n1)
    is "$?" "$status" "$*: status $status"
    is "$(grep -E '^(fail|warn|unknown)' <<<"$text" | awk '{ print $2, $3 }')" "$test $part" \
        "... $part is named, and nothing else"
    is "$(bad n2)" '' '... and nothing on the other node'
    lab heal >/dev/null || bail 'lab heal'
}

names net.interfaces eth1 1 rail-down n1 eth1
names net.interfaces eth2 0 wrong-mtu n1 eth2
names slurm.gres gpu3 1 missing-gpu n1
names slurm.gres gpu7 1 gres-lies n1 device
names slurm.gres gpu7 1 gres-lies n1 twice
names slurm.gres gpu 1 gres-lies n1 count

# Accelerators, with a stand-in for their library, and the kernel log: each fault has its code.
codes() { check n1 --json --only gpu.health,host.log | grep -o '"code":"[a-z_]*"' | cut -d'"' -f4 | xargs; }
for fault in gpu-off:gpu_lost gpu-reset:gpu_reset_required gpu-ecc:gpu_memory_errors \
    gpu-rows-pending:gpu_row_remap_pending gpu-rows-failed:gpu_row_remap_failed gpu-throttled:gpu_throttled \
    gpu-hot:gpu_hot gpu-narrow:pcie_degraded gpu-held:gpu_memory_held gpu-crash:gpu_library_crashed; do
    lab fault "${fault%:*}" n1 >/dev/null || bail "lab fault $fault"
    is "$(codes)" "${fault#*:}" "${fault%:*} is named"
    lab on n1 sed -i '2,$d' /etc/muster-gpu-state # heal waits for slurmd
done
lab fault gpu-off n1 >/dev/null || bail 'lab fault gpu-off'
status=
for _ in 1 2 3; do
    text=$(check n1 --health)
    status+=$?
done
is "$status" 001 'a GPU that is missing fails the third health check in a row'
like "$text" 'muster check: n1: gpu.health gpu3: NVIDIA is lost' '... which names it'
bundle=$(sed -n 's/^muster check: n1: evidence stored in //p' <<<"$text")
like "$bundle" '^/var/lib/muster/evidence/gpu_lost-gpu3-[0-9TZ]+\.tar$' '... and stores evidence'
is "$(lab on n1 tar -tf "$bundle" | xargs)" \
    'records.jsonl kernel-log.txt inventory.json accelerators.json counters.txt' '... as a tar file'
like "$(lab on n1 tar -xOf "$bundle" records.jsonl)" '"code":"gpu_lost"' '... of that fault'
not_ok '... only once' grep -q evidence <<<"$(check n1 --health)"
like "$(check n1 --only host.evidence)" "^warn +host.evidence +gpu3 +evidence of gpu_lost, .*$bundle" \
    '... and reported until the next certificate'
lab on n1 rm -rf /var/lib/muster/evidence
lab on n1 sed -i '2,$d' /etc/muster-gpu-state
is "$(check n1 --health)" '' 'once the GPU is back, nothing is reported'
lab fault gpu-hung n1 >/dev/null || bail 'lab fault gpu-hung'
is "$(check n1 --health)" '' 'a library that does not answer does not fail the health check'
like "$(check n1 --only gpu.health)" '^unknown +gpu.health .*libnvidia-ml.so.1: no answer within 8 s in nvmlDeviceGetHandleByIndex_v2' '... and the check names it'
lab heal >/dev/null
lab fault kernel-log n1 'NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.' >/dev/null
lab fault kernel-log n1 'NVRM: Xid (PCI:0000:aa:00): 45, pid=7, name=python3, Ch 00000001' >/dev/null
text=$(check n1 --health)
status=$?
text=$(grep -v ': evidence stored in ' <<<"$text")
is "$status $text" '1 muster check: n1: host.log 0000:9b:00: xid 79 (GPU has fallen off the bus), '"$(
    grep -o '[0-9]* s ago' <<<"$text")"': NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.' \
    'the health check names an entry of the kernel log, but no fault of a program'
text=$(check n1 --health)
is "$?" 1 '... and fails again without new entries'
lab fault kernel-log n1 'NVRM: Xid (PCI:0000:9b:00): 154, GPU recovery action changed from 0x1 (x) to 0x0 (None)' \
    >/dev/null
is "$(codes)" gpu_lost '... which stays after Xid 154'
lab heal >/dev/null || bail 'lab heal'
lab on n1 rm -rf /var/lib/muster/evidence
is "$(check n1 --health)" '' 'after heal nothing is reported'

# Inside a step only some devices can be opened, but all are visible.
text=$(lab run srun -N1 -w n1 --gres=gpu:2 env MUSTER_CONF=/etc/muster/muster.conf "$work/muster" \
    check --only slurm)
like "$text" '^pass +slurm.gres +gpu ' 'in a step with two GPUs the eight pass'

# A user's job leaves a process and a file of shared memory.
as_user() { lab on n1 setpriv --reuid=4711 --regid=4711 --clear-groups "$@"; }
as_user sh -c 'echo data >/dev/shm/left; setsid sleep 100 >/dev/null 2>&1 </dev/null &'
text=$(check n1 --only host.residue)
is "$?" 0 'leftovers of a job do not fail'
like "$text" '^warn +host.residue +shared_memory .*: 1 file in /dev/shm' '... its shared memory is named'
like "$text" '^warn +host.residue +processes +1 process .*: sleep \(pid [0-9]+, uid 4711\)' '... and its process'
as_user sh -c 'rm /dev/shm/left; pkill -u 4711 -x sleep'
is "$(bad n1 --only host.residue)" '' '... until both are gone'

lab on n1 pkill -STOP -x munged
text=$(check n1 --only host.munge)
status=$?
lab on n1 pkill -CONT -x munged
is "$status" 1 'a munged that does not answer fails'
healthy 'after'
done_testing
