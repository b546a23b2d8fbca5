#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whatever is killed between prolog and epilog, in the end the interfaces are as before.
. "$(dirname "$0")/interfaces.sh"

interfaces_lab_up -n 1
conf_add n1 'Interface=eth[1-2] mtu=4000 txqueuelen=5000 rp_filter=2 accept_local=1'
is "$(as_user srun -w n1 sh -c "$(eth1)" | xargs)" '4000 5000 2 1' 'a job has the settings'
ok '... and afterwards everything is as it was' within 60 settings_are "$before"

waits() { lab on n1 pgrep -o -f "^[^ ]*slurmstepd spank $1" >/dev/null; } # prolog|epilog
# Kills the process that slurmd started, not its child that does the work. Slurm may run an epilog twice.
kill_hook() { lab on n1 sh -c "pkill -9 -P \$(pgrep -o -x slurmd) -f '^[^ ]*slurmstepd spank $1'"; }

# slurmd, while a job runs and goes on running
id=$(held_job a)
within 60 is_running "$id"
end_slurmd n1 KILL
ok 'slurmd killed: the job keeps its settings' eth1_is '4000 5000 2 1'
begin_slurmd n1
ok '... also when slurmd starts again' eth1_is '4000 5000 2 1'
touch "$work/go-on-a"
ok '... and the epilog restores the interfaces' within 60 settings_are "$before"

# slurmd, with a job that ends while slurmd is down
id=$(held_job b)
within 60 is_running "$id"
end_slurmd n1 KILL
touch "$work/go-on-b"
gone() { ! lab on n1 pgrep -f "job-b|slurm_script" >/dev/null; }
within 60 gone
begin_slurmd n1
# slurmctld repeats after a minute a message that it could not deliver
ok 'a job that ended without slurmd: the interfaces are restored once slurmd runs' within 300 settings_are "$before"
within 60 no_jobs

# the prolog alone, before it has done anything: its child must not continue without it
hold_lock
lab run srun -Q -w n1 true >/dev/null 2>&1 &
ok 'a prolog that waits' within 60 waits prolog
kill_hook prolog
release_lock
wait
ok '... killed, it leaves everything as it was' within 60 settings_are "$before"
ok '... and the node drained' within 60 is_in n1 drained
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
like "$(lab on n1 cat $journal)" "jobs $id$" '... the journal still has the job'
ok '... until an administrator restores it' lab on n1 env MUSTER_CONF=/etc/muster/muster.conf \
    "$work/muster" interfaces --restore --job "$id"
is "$(settings)" "$before" '... everything is as it was'
resume n1

# a reboot: the journal is from another boot, and the boot has set the interfaces
lab on n1 env MUSTER_CONF=/etc/muster/muster.conf "$work/muster" interfaces --apply >/dev/null
lab on n1 sed -i 's/^boot .*/boot 01234567-89ab-cdef/' $journal
end_slurmd n1 KILL
begin_slurmd n1
within 60 is_in n1 idle
ok 'after a reboot there is no journal' within 60 lab on n1 test ! -e $journal
ok '... and nothing is changed' eth1_is '4000 5000 2 1'
log() { slurmd_log n1 | grep -q 'n1: the reboot has undone 8 interface settings'; }
ok '... as the log says' within 60 log

done_testing
