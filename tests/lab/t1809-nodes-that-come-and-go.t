#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A cloud node that is powered down is reported, and neither tested, nor powered up, nor drained. With
# power it is certified, and so is a node that registered itself (slurmd -Z).
. "$(dirname "$0")/certify.sh"

hardware='CPUs=16 Boards=1 SocketsPerBoard=2 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=16000 Gres=gpu:8'
printf '%s\n' '#!/bin/sh' "echo \$1 >>'$work/resumed'" >"$work/resume"
chmod 755 "$work/resume"
for node in n1 n2 n3 n4; do end_slurmd $node TERM; done
lab run pkill -x slurmctld
within 60 no_process head -x slurmctld
for host in head n1 n2 n3 n4; do
    # topology/tree accepts no node that is not in slurm.conf
    sed -i "/^TopologyPlugin=/d; s/^NodeName=.*/NodeName=n[1-2] $hardware\nNodeName=n4 $hardware State=CLOUD/" \
        "$top/.lab/$name/$host/etc/slurm/slurm.conf"
    printf '%s\n' MaxNodeCount=8 SuspendTime=3600 'SuspendExcNodes=n[1-3]' ResumeTimeout=60 SuspendTimeout=5 \
        SuspendProgram=/bin/true "ResumeProgram=$work/resume" PrivateData=cloud >>"$top/.lab/$name/$host/etc/slurm/slurm.conf"
done
lab run slurmctld -c
begin_slurmd n1
begin_slurmd n2
lab on n3 /usr/sbin/slurmd -Z --conf "$hardware" </dev/null >"$work/slurmd" 2>&1 || diag "$(cat "$work/slurmd")"
has_states() { [ "$(states)" = "$1" ]; } # STATES
ok 'n3 registers itself, n4 is powered down' within 60 has_states 'n1 idle n2 idle n3 idle n4 idle~' || diag "$(states)"

certify_settled -l quick
is "$status $(verdicts)" '0 n1 pass n2 pass n3 pass' 'the nodes with power are certified' || show
like "$output" 'n4: left alone: powered down' '... and the output says why the other is not' || show
is "$(certificates)" 'n1 n2 n3' '... each has its certificate'
certify -l quick -w n4
is "$status" 3 'that node alone cannot be tested' || show
like "$output" 'n4 .*powered down' '... for the same reason'
is "$(states):$(reason n4):$(cat "$work/resumed" 2>/dev/null)" 'n1 idle n2 idle n3 idle n4 idle~:none:' \
    'it was neither drained nor powered up'

lab run scontrol update nodename=n4 state=power_up
ok 'the cloud starts it' within 60 test -s "$work/resumed"
lab on n4 /usr/sbin/slurmd -b </dev/null >/dev/null 2>&1 # as after a boot
ok '... and it registers' within 60 has_states 'n1 idle n2 idle n3 idle n4 idle' || diag "$(states)"
certify_settled -l quick -w n4
like "$status $(verdicts)" '^0 .*n4 pass$' '... and is certified' || show
is "$(certificates)" 'n1 n2 n3 n4' '... as its certificate shows'

lab run scontrol update nodename=n4 state=power_down
end_slurmd n4 TERM
ok 'it is powered down again' within 60 sh -c "'$lab_dir/lab' -L '$name' run sinfo -h -n n4 -o %T | grep -q 'idle[%~]'"
certify_settled -l quick -w n1,n4
like "$status $(verdicts)" '^3 n1 pass .*n4 unknown$' '... and is left alone' || show
unlike "$(reason n4)" 'muster' '... and not drained by muster'
if [ "${MUSTER_LAB_RELEASE:-bookworm}" = bookworm ]; then
    for host in head n1 n2 n3 n4; do sed -i '/^PrivateData=/d' "$top/.lab/$name/$host/etc/slurm/slurm.conf"; done
    lab run scontrol reconfigure
    is_hidden() {
        certify -l quick -w n4
        [[ "$status $output" == '2 muster certify: no node n4 in this cluster; without PrivateData=cloud '* ]]
    }
    ok 'for a node that Slurm hides the message mentions PrivateData=cloud' within 120 is_hidden || show
else
    skip 1 'this release hides no cloud nodes'
fi
ok 'nothing is left' within 60 nothing_left
done_testing
