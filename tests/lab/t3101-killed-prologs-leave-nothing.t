#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whatever is killed between prolog and epilog, the interfaces are what they were in the end.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/testlab.sh"
. "$(dirname "$0")/spank.sh"
. "$(dirname "$0")/gate.sh"
. "$(dirname "$0")/interfaces.sh"

interfaces_lab_up -n 1
conf_add n1 'Interface=eth[1-2] mtu=4000 txqueuelen=5000 rp_filter=2 accept_local=1'
is "$(as_user srun -w n1 sh -c "$(eth1)" | xargs)" '4000 5000 2 1' 'a job has the settings'
ok '... and afterwards everything is as it was' within 60 settings_are "$before"

waits() { lab on n1 pgrep -o -f "^[^ ]*slurmstepd spank $1" >/dev/null; } # prolog|epilog
# What slurmd started, not the child that does the work. Slurm may have an epilog run a second time.
kill_hook() { lab on n1 sh -c "pkill -9 -P \$(pgrep -o -x slurmd) -f '^[^ ]*slurmstepd spank $1'"; }

# slurmd, while a job runs and goes on running
id=$(held_job a)
within 60 is_running "$id"
end_slurmd n1 KILL
ok 'slurmd killed: the job keeps its settings' eth1_is '4000 5000 2 1'
begin_slurmd n1
ok '... when slurmd starts too' eth1_is '4000 5000 2 1'
touch "$work/go-on-a"
ok '... and the epilog puts them back' within 60 settings_are "$before"

# slurmd, with a job that ends while it is away
id=$(held_job b)
within 60 is_running "$id"
end_slurmd n1 KILL
touch "$work/go-on-b"
gone() { ! lab on n1 pgrep -f "job-b|slurm_script" >/dev/null; }
within 60 gone
begin_slurmd n1
# what slurmctld could not tell a slurmd that was away it tells again after a minute
ok 'a job that ended without slurmd: put back once it is there' within 300 settings_are "$before"
within 60 no_jobs

# the prolog, before it has done anything, alone: its child must not go on without it
hold_lock
lab run srun -Q -w n1 true >/dev/null 2>&1 &
ok 'a prolog that waits' within 60 waits prolog
kill_hook prolog
release_lock
wait
ok '... killed, it leaves everything as it was' within 60 settings_are "$before"
ok '... and a drained node' within 60 is_in n1 drained
resume n1

# an epilog, before it has done anything
id=$(held_job c)
within 60 is_running "$id"
hold_lock
touch "$work/go-on-c"
ok 'an epilog that waits' within 60 waits epilog
kill_hook epilog
release_lock
ok '... killed, Slurm drains the node' within 60 is_in n1 drained
like "$(lab on n1 cat $journal)" "jobs $id$" '... the journal has the job still'
ok '... which an administrator ends' lab on n1 env MUSTER_CONF=/etc/muster/muster.conf \
    "$work/muster" interfaces --restore --job "$id"
is "$(settings)" "$before" '... everything is as it was'
resume n1

# a reboot: what the journal has is of another boot, the interfaces are as the boot made them
lab on n1 env MUSTER_CONF=/etc/muster/muster.conf "$work/muster" interfaces --apply >/dev/null
lab on n1 sed -i 's/^boot .*/boot 01234567-89ab-cdef/' $journal
end_slurmd n1 KILL
begin_slurmd n1
within 60 is_in n1 idle
ok 'after a reboot there is no journal' within 60 lab on n1 test ! -e $journal
ok '... and nothing is touched' eth1_is '4000 5000 2 1'
log() { slurmd_log n1 | grep -q 'n1: the reboot has undone 8 interface settings'; }
ok '... as the log says' within 60 log

done_testing
