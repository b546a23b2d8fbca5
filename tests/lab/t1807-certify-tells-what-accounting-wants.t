#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# If Slurm's accounting or the partition excludes the battery's user, certify says so in one line
# with the site's next step, drains nobody, and leaves nothing. In a federation, whose commands show
# the nodes of all clusters, it certifies its own. With MariaDB and slurmdbd.
. "$(dirname "$0")/madeup.sh"

muster_find
command -v jq >/dev/null || skip_all 'no jq here'
lab_up -n 2 --accounting

account() { lab run sacctmgr -iQ "$@" >/dev/null; }
partition() { lab run scontrol update partitionname=lab "$@"; }

refused() { # REGEX NAME: certify is refused, and the line of its stage allocate matches REGEX
    status=0
    lab run "$muster" certify --level quick >"$work/output" 2>&1 </dev/null || status=$?
    is "$status" 3 "$2: unknown"
    like "$(grep '^  allocate' "$work/output" | tail -n 1)" "$1" '... with the next step' ||
        diag "$(cat "$work/output")"
    is "$(sinfo_nodes -o '%N %T' | xargs) $(lab run squeue -h)$(lab run scontrol -o show reservation 2>&1 | grep muster-)" \
        'n1 idle n2 idle ' '... nobody is drained and nothing left'
}

refused 'for muster: Invalid account .*sacctmgr add user muster account=NAME' 'a user without an account'
unlike "$(cat "$work/output")" '^  check' '... before anything starts'
account add account lab
account add user muster account=lab
partition allowgroups=root
refused 'for muster: .*AllowGroups: usermod -aG GROUP muster' 'a partition of another group'
unlike "$(cat "$work/output")" '^  check' '... before anything starts'
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
fi
partition allowgroups=ALL rootonly=no allowaccounts=ALL allowqos=ALL

# A second controller on the head, for nodes that do not exist; each cluster knows the other.
lab run bash -e >"$work/federation" 2>&1 <<END || bail "no federation: $(tail -n 2 "$work/federation")"
    cp -r /etc/slurm /tmp/other
    mkdir /var/spool/slurmctld/other
    sed -i 's/^ClusterName=.*/ClusterName=other/; s/^NodeName=n\[1-2\]/NodeName=o[1-2] NodeAddr=127.0.0.[1-2]/
        s/^PartitionName=lab/PartitionName=far/; s/^StateSaveLocation=.*/&\/other/; /^TopologyPlugin=/d
        s/slurmctld\.\(pid\|log\)/other.\1/' /tmp/other/slurm.conf
    echo SlurmctldPort=6917 >>/tmp/other/slurm.conf
    echo FederationParameters=fed_display | tee -a /etc/slurm/slurm.conf >>/tmp/other/slurm.conf
    sacctmgr -iQ add cluster other
    slurmctld -f /tmp/other/slurm.conf
    sacctmgr -iQ add federation both clusters=$name,other
    scontrol reconfigure
END
ok "the second cluster's nodes are shown" within 60 sh -c "'$lab_dir/lab' -L '$name' run sinfo -h -N | grep -q '^o2 '"
made_up_battery
status=0
lab run "$muster" certify --level quick --json "$work/records" >"$work/output" 2>&1 </dev/null || status=$?
is "$status" 0 'once it is allowed, it certifies' || diag "$(cat "$work/output")"
is "$(jq -r '.node // empty' "$work/records" | sort -u | xargs)" 'n1 n2' '... the nodes of its own cluster'
is "$(lab run squeue -h -M other)$(lab run sinfo -h -N -M other -o '%N %E' | grep muster:)" '' '... and leaves the other alone'
for option in '-w n1,o1' '-p far'; do
    status=0
    # shellcheck disable=SC2086 # words
    lab run "$muster" certify $option >"$work/output" 2>&1 </dev/null || status=$?
    is "$status $(<"$work/output")" "2 muster certify: no $([ "$option" = '-p far' ] && echo partition far || echo node o1) in this cluster" \
        "$option of the other is refused in one line"
done
done_testing
