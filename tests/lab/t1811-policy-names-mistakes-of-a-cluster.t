#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster policy check on a real cluster with slurmdbd: the lab has no finding; mistakes made by sacctmgr,
# scontrol and slurm.conf are found, each by itself, and none once it is undone. With slurmdbd killed
# the result is unknown. Any user may run it, and it changes nothing.
. "$(dirname "$0")/testlab.sh"

muster_find
lab_up -n 2 --accounting

codes() { lab run "$muster" policy check --json 2>&1 | sed -nE 's/^\{"code": ?"([^"]*)".*/\1/p' | sort -u | xargs; }
has_codes() { [ "$(codes)" = "$1" ]; }
manage() { lab run sacctmgr -iQ "$@" >/dev/null 2>&1; }
conf() { # SED: edits the head's slurm.conf, and has slurmctld read it
    sed -Ei "$1" "$top/.lab/$name/head/etc/slurm/slurm.conf"
    lab run scontrol reconfigure
}

found() { # CODE UNDO-COMMAND -- COMMAND...
    local code=$1 undo=$2
    shift 3
    ok "$*" "$@"
    # slurmdbd and slurmctld take a moment
    ok "... is $code" within 60 has_codes "$code"
    $undo || bail "$undo"
    ok '... has no finding' within 60 has_codes ''
}

text=$(lab run "$muster" policy check)
is "$?" 0 'the lab is well configured'
like "$text" '^cluster .*: 1 partition, 3 QOS, 9 associations, 0 reservations; no mistakes found, of' '... without a finding'
like "$text" '^slurm.conf: /.*/slurm.conf, which is what slurmctld has read$' '... and names the file'
sed -i '$aMaxArraySize=1000' "$top/.lab/$name/head/etc/slurm/slurm.conf"
like "$(lab run "$muster" policy check)" '^slurm.conf: that in /.* differs from what slurmctld has read of /' \
    '... and reports a file that slurmctld has not read'
sed -i '$d' "$top/.lab/$name/head/etc/slurm/slurm.conf"
before=$(lab run sh -c 'sacctmgr -nP show qos; sacctmgr -nP show assoc; scontrol show config | grep -v " as of "; scontrol show partition')
is "$(run_as alice "$muster" policy check)" "$text" 'an ordinary user sees the same'
is "$(lab run sh -c 'sacctmgr -nP show qos; sacctmgr -nP show assoc; scontrol show config | grep -v " as of "; scontrol show partition')" \
    "$before" 'nothing was changed'

text=$(lab run env SLURM_CLUSTERS=east "$muster" policy check 2>&1)
is "$?" 3 'SLURM_CLUSTERS names another cluster'
like "$text" "^muster policy: SLURM_CLUSTERS is 'east'" '... and the output says so'

qos() { manage modify qos "$@"; }
user() { manage modify user "$@"; }
part() { lab run scontrol update partitionname=lab "$@"; }
found limit-above-cluster 'qos batch set grptres=cpu=-1' -- qos batch set grptres=cpu=640
found limit-above-cluster 'qos batch set maxtresperuser=gres/gpu=-1' -- qos batch set maxtresperuser=gres/gpu=17
found no-jobs-allowed 'qos batch set maxsubmitjobsperuser=-1' -- qos batch set maxsubmitjobsperuser=0
found wall-above-partitions 'qos urgent set maxwall=-1' -- qos urgent set maxwall=2-0
found preempt-no-lists 'qos urgent set preempt=batch' -- qos urgent set preempt=
found preempts-higher 'qos urgent set priority=100' -- qos urgent set priority=0
found grace-outlasts-jobs 'qos batch set gracetime=0' -- qos batch set gracetime=172800
found exempt-outlasts-jobs 'qos batch set preemptexempttime=-1' -- qos batch set preemptexempttime=2-0
found override-refused 'qos urgent set flags=-1' -- qos urgent set flags=partitiontimelimit
found qos-unused 'manage delete qos spare' -- manage add qos spare
manage modify account physics set grptres=cpu=16
found child-above-parent 'user alice set grptres=cpu=-1' -- user alice set grptres=cpu=32
manage modify account physics set grptres=cpu=-1
found allow-qos-unknown 'part allowqos=ALL' -- part allowqos=normal,urgnt
found allow-account-unknown 'part allowaccounts=ALL' -- part allowaccounts=physics,chemstry
found partition-for-nobody 'part allowqos=ALL allowaccounts=ALL' -- part allowqos=urgent allowaccounts=visitors
found limit-shadowed 'part qos=' -- sh -c "'$lab_dir/lab' -L $name run sh -c 'sacctmgr -iQ modify qos normal set maxjobsperuser=5 >/dev/null; scontrol update partitionname=lab qos=normal'"
qos normal set maxjobsperuser=-1
found force-shares-first 'part oversubscribe=no' -- part oversubscribe=force:4
found lln-scatters 'part lln=no' -- part lln=yes
found min-above-max 'part minnodes=0' -- part minnodes=3
found partition-nodes-down 'lab run scontrol update nodename=n[1-2] state=resume' -- \
    lab run scontrol update 'nodename=n[1-2]' state=drain reason=test
found default-partition-closed 'part state=up' -- part state=drain
found reservation-overlaps 'lab run scontrol delete reservation=late' -- \
    lab run sh -c 'scontrol create reservation=early starttime=now+1hour duration=60 nodes=n1 users=alice &&
        scontrol create reservation=late starttime=now+90minutes duration=60 nodes=n1 users=bob flags=overlap'
lab run scontrol delete reservation=early
found qos-weight-zero 'conf s/^(PriorityWeightQOS=).*/\1100000/' -- conf 's/^(PriorityWeightQOS=).*/\10/'
found shares-above-qos 'conf s/^(PriorityWeightFairshare=).*/\110000/' -- conf 's/^(PriorityWeightFairshare=).*/\19999999/'
found window-too-short 'conf s/bf_window=60,//' -- conf 's/^(SchedulerParameters=)/\1bf_window=60,/'
found parameter-unknown 'conf s/,bf_contineu//' -- conf 's/^(SchedulerParameters=.*)/\1,bf_contineu/'
found part-limits-not-enforced 'conf s/^(EnforcePartLimits=).*/\1ALL/' -- conf 's/^(EnforcePartLimits=).*/\1NO/'
found requeue-off 'conf s/^JobRequeue=0$//' -- conf '$aJobRequeue=0'

lab fault slurmdbd-killed >/dev/null
text=$(lab run "$muster" policy check)
is "$?" 3 'slurmdbd does not answer: unknown'
like "$text" '^unknown  accounting: sacctmgr: .' '... and says so'
lab heal >/dev/null
ok 'healed it has no finding' within 60 has_codes ''
done_testing
