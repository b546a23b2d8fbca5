#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each fault is present once injected, only where it was injected, and gone after lab heal.
. "$(dirname "$0")/testlab.sh"

# slow rails need little processor time, so that a busy machine does not slow them further
lab_up -n 4 --rail-mbps 80

inject() { # KIND ARG...
    ok "inject $*" lab fault "$@"
    like "$(lab status)" "^  $*" 'status shows it'
}

healed() {
    ok 'heal' lab heal
    like "$(lab status)" 'injected faults: none' 'no fault is left'
    is "$(lab run srun -N4 hostname | sort | xargs)" 'n1 n2 n3 n4' 'jobs run on all nodes'
    within 60 no_jobs # slurmctld asks again a minute later for a job's end that was lost
}

state_of() { sinfo_nodes -n "$1" -o %T; }
is_in() { state_of "$1" | grep -qx "$2"; }
carrier() { lab on "$1" cat "/sys/class/net/$2/carrier"; }
mtu() { lab on "$1" cat "/sys/class/net/$2/mtu"; }
gpu_numbers() { lab on "$1" sh -c 'stat -c %t:%T /dev/gpu?' | xargs; }
good_gpus='4:14 4:15 4:16 4:17 4:18 4:19 4:1a 4:1b'

inject slow-rail n2 eth1
runs_at 'to it, of 20' 17 22 n1 n2 1
runs_at 'from it, of 20' 17 22 n2 n1 1
runs_at 'its other rail, of 80' 60 84 n1 n2 2
healed
runs_at 'healed, of 80' 60 84 n1 n2 1

inject slow-uplink
runs_at 'between leaves, of 40' 34 43 n1 n3 1
runs_at 'within a leaf, of 80' 60 84 n1 n2 1
healed

inject rail-down n3 eth2
is "$(carrier n3 eth2) $(carrier n3 eth1) $(carrier n1 eth2)" '0 1 1' 'only n3 eth2 has no carrier'
healed
is "$(carrier n3 eth2)" 1 'the carrier is back'

inject wrong-mtu n1 eth1
is "$(mtu n1 eth1) $(mtu n1 eth2) $(mtu n2 eth1)" '1500 9000 9000' 'only n1 eth1 has MTU 1500'
healed
is "$(mtu n1 eth1)" 9000 'MTU 9000 again'

inject missing-gpu n2 5
not_ok '/dev/gpu5 has gone' lab on n2 test -e /dev/gpu5
is "$(gpu_numbers n1)" "$good_gpus" 'and on no other node'
healed
is "$(gpu_numbers n2)" "$good_gpus" 'all eight are there again'

inject gres-lies n2
is "$(lab on n2 stat -c %t:%T /dev/gpu7)" 1:7 '/dev/gpu7 is no GPU'
ok 'slurmd runs with it' within 60 is_in n2 idle
healed
is "$(gpu_numbers n2)" "$good_gpus" 'eight GPUs again'

inject gres-lies n2 twice
is "$(lab on n2 stat -c %t:%T /dev/gpu6 /dev/gpu7 | xargs)" '4:1a 4:1a' 'one GPU has two names'
healed

inject gres-lies n2 count
ok 'Slurm takes the node out of service' within 60 is_in n2 'inval.*'
healed
is "$(state_of n2)" idle 'the node is back in service'

inject munge-key n4
not_ok 'its credentials are not valid elsewhere' \
    sh -c "'$lab_dir/lab' -L $name on n4 munge -n | '$lab_dir/lab' -L $name run unmunge"
healed
ok 'its credentials are valid again' \
    sh -c "'$lab_dir/lab' -L $name on n4 munge -n | '$lab_dir/lab' -L $name run unmunge"

inject slurmd-killed n1
not_ok 'no slurmd runs' lab on n1 pgrep -x slurmd
ok 'munged does' lab on n1 pgrep -x munged
healed

inject cut-off n3
not_ok 'no ping from the head' lab run ping -c 1 -W 1 n3
is "$(lab on n3 hostname)" n3 'lab on works'
is "$(carrier n3 eth0)$(carrier n3 eth1)$(carrier n3 eth2)" 000 'no carrier on any link'
healed

"$lab_dir/lab" -L "$name" on n2 sh -c "while :; do date +%N >$work/beat; sleep 0.05; done" &
within 60 test -s "$work/beat"
inject frozen n2
sleep 0.2
first=$(cat "$work/beat")
sleep 0.3
is "$(cat "$work/beat")" "$first" 'its processes stand still'
status=0
lab on n2 true 2>/dev/null || status=$?
is $status 125 'and nothing new runs there'
is "$(lab on n1 hostname)" n1 'other nodes go on'
healed
isnt "$(cat "$work/beat")" "$first" 'its processes go on'
kill %1

processors() { lab on "$1" sh -c 'sed -nE "s/^[0-9]+:cpu(,cpuacct)?://p" "/proc/$(pgrep -xo slurmd)/cgroup"'; } # cgroup
if [ -e /sys/fs/cgroup/cpu/cpu.shares ] && [ -e /sys/fs/cgroup/blkio/cgroup.procs ] && losetup -f >/dev/null 2>&1; then
    inject slow-cores n1 25
    like "$(processors n1)" "/muster-$name-.*/n1" 'its slurmd is in a cgroup'
    is "$(lab on n1 cat "/sys/fs/cgroup/cpu$(processors n1)/cpu.cfs_quota_us")" $((25 * 100 * $(nproc))) '... with a quota'
    inject slow-disk n2
    is "$(lab on n2 findmnt -n -o FSTYPE,SOURCE /var/scratch | tail -n 1 | xargs)" 'ext4 /dev/scratch' 'its disk is the slow device'
    unlike "$(lab on n1 findmnt -n -o SOURCE /var/scratch)" '/dev/scratch' '... on this node only'
    begin=$EPOCHREALTIME
    lab run srun -w n2 dd if=/dev/zero of=/var/scratch/file bs=1M count=4 oflag=direct 2>/dev/null
    ok 'and slow' test $(((${EPOCHREALTIME/./} - ${begin/./}) / 1000)) -ge 600
    healed
    unlike "$(processors n1)" "/muster-" 'no quota is left'
    disks() { lab on n2 findmnt -n /var/scratch; grep -l "/[.]lab/$name/" /sys/block/loop*/loop/backing_file 2>/dev/null; }
    is_within 60 '' 'no slow disk is left' disks
else
    skip 1 'no cgroup v1 of processors and disks, or no loop devices'
fi

lab fault slurmd-killed n1 >/dev/null
lab fault frozen n2 >/dev/null
lab fault munge-key n3 >/dev/null
lab run scontrol update nodename=n1,n2,n3 state=down reason='Not responding'
lab run scontrol update nodename=n4 state=drain reason='muster: links eth1 98 of 200 Mb/s'
like "$(lab heal)" 'n4 stays drained: muster: links eth1' 'heal names the node muster drained'
states() { sinfo_nodes -o %T | xargs; } # n4 is draining while its last job ends
is_within 60 'idle idle idle drained' 'nodes Slurm took away are back, the one muster drained stays' states
lab run scontrol update nodename=n4 state=resume
not_ok 'a fault on a node that does not exist is refused' lab fault cut-off n9
not_ok 'a slow management NIC is refused' lab fault slow-rail n1 eth0
like "$(lab status)" 'injected faults: none' 'and neither is recorded'
done_testing
