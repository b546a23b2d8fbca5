#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two rails of two nodes: without a fault there is no warning. A rail with a quarter of the other's speed, so that
# two rails carry less than one, is named with the next step. A rail that loses packets is named, and
# the other is not. Once it loses none, there is no warning again. In repeatable time. Three to
# eleven minutes.
. "$(dirname "$0")/testguest.sh"

measure() {
    local end rails_1='rxe[1,3]' rails_2='rxe[2,4]' links_limit_s=120
    for end in eth1 eth2 eth3 eth4; do
        tc qdisc add dev $end root handle 1: tbf rate 200mbit burst 32kb latency 400ms
    done
    echo '== good'
    links_of_two --passes=verbs --verbs=write --quick --json
    echo '== slow'
    for end in eth3 eth4; do
        tc qdisc change dev $end root handle 1: tbf rate 50mbit burst 32kb latency 400ms
    done
    links_of_two --passes=verbs --verbs=write --quick --json
    echo '== lossy'
    for end in eth3 eth4; do
        tc qdisc del dev $end root
        tc qdisc add dev $end root netem rate 200mbit loss 0.5% limit 10000
    done
    links_of_two --passes=verbs --verbs=write --quick --json
    echo '== good again'
    for end in eth3 eth4; do
        tc qdisc change dev $end root netem rate 200mbit loss 0% limit 10000
    done
    links_of_two --passes=verbs --verbs=write --quick --json
    echo "status $?"
}

in_guest measure --topology rails --repeatable --memory 1500 --time-limit 800
is "$status" 0 'a guest with two rails of 200 Mb/s'
links() { section "$1" | jq -Rr "fromjson? | $2"; }
figure() { links "$1" "select(.metric == \"bandwidth_rc_write\" and .part == \"$2\") | .value | . / 10 | round * 10"; }
is "$(figure good rxe1:1) $(figure good rxe3:1)" '190 190' 'both rails run at their speed'
is "$(links good 'select(.metric == "bandwidth_rc_write_together" and .node == "n1") | .value > 150' | xargs)" \
    'true true' '... and both at once'
is "$(links good 'select(.verdict == "warn" or .verdict == "fail") | .message')" '' '... and nothing is wrong'
like "$(links slow 'select(.metric == "striping" and .node == "n1") | .message')" \
    '^n1 rxe3:1 -> n2 carries 4[0-9.]+ Mb/s, rxe1:1 1[89][0-9.]+: messages striped evenly over 2 rails get 9[0-9.]+ in total, less than from rxe1:1 alone; repair rxe3:1 or leave it out' \
    'one rail so slow that two are slower than one is named'
is "$(links slow 'select(.metric == "striping") | .node + " " + .part' | xargs)" 'n1 rxe3:1 n2 rxe4:1' \
    '... on both ends, and no other'
is "$(links lossy 'select(.metric == "loss") | .part' | sort -u | xargs)" 'rxe3:1 rxe4:1' \
    'of two rails the one that loses packets is named'
like "$(links lossy 'select(.metric == "loss" and .node == "n1") | .message')" \
    '^n1 rxe3:1 -> n2 rxe4:1: the ports counted [0-9]+ packets out of order or retransmitted, of about [0-9]+: this path loses packets; check its cables, and flow control \(PFC\)' \
    '... with what to check'
is "$(links 'good again' 'select(.verdict == "warn" or .verdict == "fail") | .message')" '' \
    'without loss nothing is wrong'
like "$(section 'good again')" '^status 0$' '... and muster-links passes'
done_testing
