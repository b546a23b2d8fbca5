#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where Slurm's accounting or the partition keeps the battery's user out, certify says so in one line
# with what the site has to do, drains nobody, and leaves nothing. On MariaDB and slurmdbd.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/testlab.sh"

muster_find
lab_up -n 2 --accounting

account() { lab run sacctmgr -iQ "$@" >/dev/null; }
partition() { lab run scontrol update partitionname=lab "$@"; }

refused() { # REGEX NAME: of what the line of allocate says
    status=0
    lab run "$muster" certify --level quick >"$work/words" 2>&1 </dev/null || status=$?
    is "$status" 3 "$2: cannot tell"
    like "$(grep '^  allocate' "$work/words" | tail -n 1)" "$1" '... and what to do is said' ||
        diag "$(cat "$work/words")"
    is "$(lab run sinfo -h -N -o '%N %T' | xargs) $(lab run squeue -h)$(lab run scontrol -o show reservation 2>&1 | grep muster-)" \
        'n1 idle n2 idle ' '... nobody is drained and nothing left'
}

refused 'for muster: Invalid account .*sacctmgr add user muster account=NAME' 'a user without an account'
unlike "$(cat "$work/words")" '^  check' '... before anything starts'
account add account lab
account add user muster account=lab
partition allowgroups=root
refused 'for muster: .*AllowGroups: usermod -aG GROUP muster' 'a partition of another group'
unlike "$(cat "$work/words")" '^  check' '... before anything starts'
if [ -n "${MUSTER_LONG-}" ]; then
    partition allowgroups=ALL rootonly=yes
    refused 'for muster: .*RootOnly and AllocNodes' 'a partition for root alone'
    partition rootonly=no allowaccounts=root
    refused 'for muster: .*AllowAccounts.*sacctmgr add user muster account=NAME' 'a partition of other accounts'
    partition allowaccounts=ALL allowqos=other
    refused 'sacctmgr modify user [a-z]* set qos' 'a partition of other QOS'
    partition allowqos=ALL
    account modify user muster set maxnodes=1
    refused 'for muster: .*limit of its account or QOS' 'a limit of fewer nodes'
    account modify user muster set maxnodes=-1
    status=0
    lab run "$muster" certify --level quick >"$work/words" 2>&1 </dev/null || status=$?
    is "$status" 0 'let in, it certifies' || diag "$(cat "$work/words")"
fi
done_testing
