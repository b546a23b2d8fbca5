#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# With AllowFailedRails a node with one slow rail of two is certified, and its tasks are kept off
# that rail.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/testlab.sh"
. "$(dirname "$0")/certify.sh"
. "$(dirname "$0")/spank.sh"

for host in head n1 n2 n3 n4; do
    [ $host = head ] || conf_add $host AllowFailedRails=1
    plugstack $host "required $plugin config=/etc/muster/muster.conf"
done
echo AllowFailedRails=1 >>"$top/.lab/$name/head/etc/muster/muster.conf"
lab fault slow-rail n3 eth2 >/dev/null
certify
is "$status $(verdicts)" '0 n1 pass n2 pass n3 pass n4 pass' 'the node passes' || show
like "$words" 'n3: eth2 [0-9]+ of 200 Mb/s, left out by AllowFailedRails' 'with a warning'
is "$(states)" 'n1 idle n2 idle n3 idle n4 idle' 'and stays in service'
like "$(lab on n3 cat /var/lib/muster/certificate)" 'test links eth2: [0-9]+ Mb/s failed' \
    'its certificate names the rail'
# shellcheck disable=SC2016 # the task's variables
is "$(lab run srun -N2 -w 'n[2-3]' sh -c 'echo "$SLURMD_NODENAME $UCX_NET_DEVICES"' | sort)" \
    'n2 eth1,eth2
n3 eth1' 'its tasks are kept off that rail'
like "$(lab run srun -w n3 --muster-explain true 2>&1)" \
    'UCX_NET_DEVICES=eth1 \(.*; left out: eth2 failed certification 20[0-9]{2}-[0-9]{2}-[0-9]{2}\)' \
    'and that is said'
done_testing
