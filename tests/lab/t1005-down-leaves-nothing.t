#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# lab down leaves no process, namespace, mount, cgroup or file, whatever happened before.
. "$(dirname "$0")/testlab.sh"

# Prints everything of this lab that can be found, one line each.
remains() {
    ls -d /run/netns/"muster-$name-"* 2>/dev/null
    ip -o link | grep -e "$name" -e mgmt -e leaf -e 'n[0-9]*-eth'
    grep -e "$name" /proc/self/mountinfo
    find /sys/fs/cgroup -type d -name "muster-$name-*"
    find /run /tmp /dev /etc /var/lib /var/spool /var/log -name "*$name*" 2>/dev/null
    # processes: by their mounts (a dead one that is not reaped yet has none), or by their environment
    grep -l "/[.]lab/$name/" /proc/[0-9]*/mountinfo 2>/dev/null
    grep -l "MUSTER_LAB=$name" /proc/[0-9]*/environ 2>/dev/null
    ls -d "$top/.lab/$name" 2>/dev/null
    true
}

# Places where daemons of the machine itself would write.
machine_files() {
    find /etc/slurm /etc/munge /etc/muster /var/lib/muster /var/lib/munge /var/log/munge \
        /var/log/slurm /var/spool/slurm* /run/munge /dev/gpu* /etc/hosts /etc/hostname \
        -printf '%p %T@\n' 2>/dev/null | sort
}

# Starts the lab and sends up a signal after some seconds. Returns the exit status of up.
up_ended() { # SIGNAL SECONDS
    { timeout --preserve-status -s "$1" "$2" "$lab_dir/lab" -L "$name" up -n 3 >/dev/null; } 2>/dev/null
}

before=$(machine_files)
lab_up -n 3
ok 'a lab that is up is seen by this test' test "$(remains | wc -l)" -gt 30
lab run sbatch -N3 -o /dev/null --wrap 'srun sleep 1000' >/dev/null
within 60 has_jobs -t running
lab on n1 sh -c 'setsid sleep 1000 &'
lab fault frozen n2 >/dev/null
lab fault cut-off n3 >/dev/null
ok 'down with a running job, a stray process and injected faults' lab down
is "$(remains)" '' 'nothing is left'
is "$(machine_files)" "$before" 'the files of the machine are as before'
ok 'down again' lab down

for delay in 0.02 0.1 0.2 0.3 0.5 0.8; do
    up_ended KILL $delay
    ok "down after up was killed at $delay s" lab down
    is "$(remains)" '' 'nothing is left'
done

for delay in 0.1 0.3 0.6; do
    if up_ended INT $delay; then
        ok "an up that was complete before $delay s stays up" lab run srun -N3 true
    else
        is "$(remains)" '' "an up interrupted at $delay s cleans up itself"
    fi
    lab down >/dev/null
done

up_ended KILL 0.4
lab_up -n 2
is "$(lab run srun -N2 hostname | sort | xargs)" 'n1 n2' 'up after a killed up works'

lab run sh -c 'pkill -KILL slurmctld' || true
lab on n1 sh -c 'kill -KILL -1' || true
ok 'down after daemons died' lab down
is "$(remains)" '' 'nothing is left'

lab up -n 8 >/dev/null 2>&1 &
within 60 test -e "$top/.lab/$name/settings"
ok 'down while up is under way' lab down
wait $!
is "$(remains)" '' 'nothing is left'
done_testing
