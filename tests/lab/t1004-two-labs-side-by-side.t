#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two labs run at the same time and do not see each other.
. "$(dirname "$0")/testlab.sh"

first=$name second=$name-b
one() { name=$first lab "$@"; }
two() { name=$second lab "$@"; }
tap_cleanup() {
    one down >/dev/null
    two down >/dev/null
}

one up -n 2 >/dev/null & # at the same moment
two up -n 2 >/dev/null || bail 'the second lab does not start'
wait $! || bail 'the first lab does not start'
is "$(one run srun -N2 hostname | sort | xargs)" 'n1 n2' 'a job in the first'
is "$(two run srun -N2 hostname | sort | xargs)" 'n1 n2' 'a job in the second'
is "$(one run scontrol show config | awk '/^ClusterName/ { print $3 }')" "$first" \
    'the first is a cluster of its own'
isnt "$(one status | awk '/^n1/ { print $3 }')" "$(two status | awk '/^n1/ { print $3 }')" \
    'with addresses of its own'
one on n1 sh -c 'sleep 1000 & munge -n >/tmp/credential'
ok 'a process of the first is seen there' one on n1 pgrep -f 'sleep 1000'
is "$(two on n1 pgrep -f 'sleep 1000'; echo $?)" 1 '... and not in the second'
not_ok 'a credential of the first is not valid in the second' \
    sh -c "'$lab_dir/lab' -L $first on n1 munge -n | '$lab_dir/lab' -L $second on n1 unmunge"

one fault slurmd-killed n1 >/dev/null
one fault rail-down n2 eth1 >/dev/null
like "$(two status)" 'injected faults: none' 'a fault in the first is none in the second'
is "$(two on n2 cat /sys/class/net/eth1/carrier)" 1 'the second keeps its rail'
is "$(two run srun -N2 hostname | sort | xargs)" 'n1 n2' 'and runs jobs'
ok 'the first goes down' one down
is "$(two run srun -N2 hostname | sort | xargs)" 'n1 n2' 'the second still runs jobs'
ok 'the second goes down' two down
done_testing
