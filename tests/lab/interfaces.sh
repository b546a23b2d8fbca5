# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# interfaces.sh - for lab tests of the interfaces' settings, instead of gate.sh: a lab whose
# slurmds have the plugin from their start, so that they run its epilog.

. "$(dirname "${BASH_SOURCE[0]}")/gate.sh"
# shellcheck disable=SC2034 # for the tests
journal=/run/muster/interfaces

interfaces_lab_up() { # LAB-OPTION...
    gate_lab_up "$@"
    # shellcheck disable=SC2034 # for the tests
    before=$(settings)
}

# Prints the settings of n1's interfaces that muster may change, all others below net/ipv4/conf, and the
# journals.
settings() {
    lab on n1 sh -c 'for i in eth0 eth1 eth2; do ip -o link show dev $i | sed "s/ qdisc .* qlen/ qlen/"; done
        grep -r . /proc/sys/net/ipv4/conf; ls /run/muster/interfaces 2>/dev/null' | sort
}

settings_are() { [ "$(settings)" = "$1" ]; } # TEXT

# Prints the commands that print MTU, queue length, rp_filter and accept_local of eth1.
eth1() {
    # shellcheck disable=SC2016
    echo 'ip -o link show dev eth1 | sed "s/.* mtu \([0-9]*\) .* qlen \([0-9]*\).*/\1 \2/"
        cat /proc/sys/net/ipv4/conf/eth1/rp_filter /proc/sys/net/ipv4/conf/eth1/accept_local'
}

eth1_is() { [ "$(lab on n1 sh -c "$(eth1)" | xargs)" = "$1" ]; } # TEXT

# Holds the lock of n1's journal until release_lock(), so that a prolog or epilog waits for it.
hold_lock() {
    lab on n1 sh -c "flock $journal.lock sh -c 'touch $work/held; until [ -e $work/let-go ]; do sleep 0.05; done
        rm -f $work/held $work/let-go' >/dev/null 2>&1 &"
    within 60 test -e "$work/held"
}
release_lock() {
    touch "$work/let-go"
    within 60 test ! -e "$work/held"
}

# Submits a job that ends once the file $work/go-on-NAME exists. Prints its ID.
held_job() { # NAME
    printf '#!/bin/sh\ntouch "%s/runs-$SLURM_JOB_ID"\nuntil [ -e %s/go-on-%s ]; do sleep 0.1; done\n' \
        "$work" "$work" "$1" >"$work/job-$1"
    lab run sbatch --parsable -n1 -w n1 -o /dev/null -D /tmp "$work/job-$1"
}

# Whether the job's script runs: for Slurm a job is already running during its prolog.
is_running() { [ -e "$work/runs-$1" ]; } # JOB
