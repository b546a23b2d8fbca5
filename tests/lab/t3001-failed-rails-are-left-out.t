#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# With AllowFailedRails a node with one slow rail of two, and one with a rail that is down, are
# certified, their tasks are kept off that rail and no preflight is held up by it.
. "$(dirname "$0")/certify.sh"
. "$(dirname "$0")/spank.sh"

for host in head n1 n2 n3 n4; do
    conf_add $host AllowFailedRails=1
    plugstack $host "required $plugin config=/etc/muster/muster.conf"
done
# n1 shows that the leaf switch is good: for n3, whose neighbor's rail is down, rail or leaf could be at fault
lab fault slow-rail n2 eth2 >/dev/null
lab fault rail-down n4 eth2 >/dev/null
certify_settled
is "$status $(verdicts)" '0 n1 pass n2 pass n3 pass n4 pass' 'the nodes pass' || show
like "$output" 'n2: eth2 [0-9]+ of 200 Mb/s, left out by AllowFailedRails' 'with a warning'
like "$output" 'n4: rail eth2 is unusable; left out .AllowFailedRails' '... for the rail that is down too' || show
is "$(states)" 'n1 idle n2 idle n3 idle n4 idle' 'and stays in service'
like "$(lab on n2 cat /var/lib/muster/certificate)" 'test links eth2: [0-9]+ Mb/s rail_slow' \
    'its certificate names the rail'
like "$(lab on n4 cat /var/lib/muster/certificate)" 'test links eth2: unusable rail_fault' '... the other one the rail that is down'
# shellcheck disable=SC2016 # the task's variables
is "$(lab run srun -N3 -w 'n[2-4]' sh -c 'echo "$SLURMD_NODENAME $UCX_NET_DEVICES"' | sort)" \
    'n2 eth1
n3 eth1,eth2
n4 eth1' 'its tasks are kept off that rail'
like "$(lab run srun -w n2 --muster-explain true 2>&1)" \
    'UCX_NET_DEVICES=eth1 \(.*; left out: eth2 failed certification 20[0-9]{2}-[0-9]{2}-[0-9]{2}\)' \
    'and --muster-explain says so'
like "$(lab run srun -w n4 --muster-explain true 2>&1)" \
    'UCX_NET_DEVICES=eth1 \(.*; left out: eth2 failed certification 20' '... on the other node as well'
like "$(lab run env MUSTER_ALLOW_ROOT=1 salloc -Q -N2 -w 'n[1,4]' "$muster" preflight 2>&1)" '^muster preflight: n\[1,4\] passed' \
    'a preflight passes without it'
# more than the site allows
lab fault rail-down n4 eth1 >/dev/null
certify --no-drain -w n4
like "$(verdicts)" 'n4 fail' 'a second failed rail fails the node' || show
done_testing
