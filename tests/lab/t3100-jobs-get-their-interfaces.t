#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# While jobs run, the interfaces are as muster.conf requests; two jobs on a node do not undo each
# other, and afterwards everything is as before. The certificate stays valid meanwhile.
. "$(dirname "$0")/interfaces.sh"

interfaces_lab_up -n 2
ok 'without Interface lines a job runs' as_user srun -w n1 true
is "$(settings)" "$before" '... and nothing is changed'
not_ok '... not even a lock is made' lab on n1 ls $journal.lock

conf_add n1 'Interface=eth[1-2] mtu=4000 txqueuelen=5000 rp_filter=2 accept_local=1 address=require'
is "$(as_user srun -w n1 sh -c "$(eth1)" | xargs)" '4000 5000 2 1' 'a job has the settings'
ok '... and after it everything is as it was' within 60 settings_are "$before"

a=$(held_job a)
ok 'a job' within 60 is_running "$a"
b=$(held_job b)
ok 'a second one on the same node' within 60 is_running "$b"
like "$(lab on n1 cat $journal)" "^eth1 [0-9]+ mtu was 9000 set 4000 jobs $a,$b$" \
    'the journal has both'
like "$(lab on n1 env MUSTER_CONF=/etc/muster/muster.conf "$work/muster" interfaces)" \
    "eth1 +mtu +4000 +9000 +held by jobs $a, $b" '... muster interfaces shows it'
touch "$work/go-on-a"
ok 'the first ends' within 60 no_jobs -n job-a
released_a() { [ "$(lab on n1 sed -n 's/^eth1 .* mtu .*jobs //p' $journal)" = "$b" ]; }
ok '... and is no longer in the journal' within 60 released_a
ok '... the second keeps its settings' eth1_is '4000 5000 2 1'
touch "$work/go-on-b"
ok 'when it ends too, everything is as it was' within 60 settings_are "$before"

# the node's log of jobs: on a busy machine prolog and epilog may give up and leave a job out
noted() {
    local job
    # shellcheck disable=SC2016 # the job's own
    job=$(as_user srun -w n1 sh -c 'echo $SLURM_JOB_ID')
    lab on n1 env MUSTER_CONF=/etc/muster/muster.conf "$work/muster" history --job "$job" 2>/dev/null |
        grep -Eq " seconds +job $job of user [1-9][0-9]* ran, "
}
ok 'a job is in the log of its node' within 60 noted

policies refuse refuse refuse
id=$(held_job c)
within 60 is_running "$id"
issue n1 # as certification does, from within a job
ok "a user's job beside it passes the gate" as_user srun -w n1 true
touch "$work/go-on-c"
within 60 settings_are "$before"
ok '... and alone, before its settings are made' as_user srun -w n1 true
within 60 settings_are "$before"

conf_add n1 'OnInterface=refuse'
hold_lock
ok 'a lock that another prolog holds for long refuses no job' as_user srun -w n1 true
release_lock
like "$(slurmd_log n1)" 'n1: no interface is set: .* locked by another prolog or epilog' '... the log says so'
ok '... and everything is as it was' within 60 settings_are "$before"
ok '... with the node in service' within 60 is_in n1 idle
conf_add n1 'Interface=eth7 mtu=4000'
as_user srun -w n1 true >/dev/null 2>&1
isnt $? 0 'OnInterface=refuse with an interface that does not exist: the job is refused'
like "$(slurmd_log n1)" \
    'n1: eth7: is not on this node; Interface line [0-9]+ of muster.conf; job [0-9]+ refused by OnInterface=refuse' \
    '... the log says why'
like "$(lab on n1 cat /var/lib/muster/refused)" 'eth7: is not on this node' '... and so does a note'
ok '... everything is as it was' within 60 settings_are "$before"

done_testing
