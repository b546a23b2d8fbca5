#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What muster-links measures by libibverbs is what perftest measures on the same path in the same run,
# within 3 %: latency and bandwidth of write, read and send, and bandwidth of datagrams. In repeatable
# time, over a link of 200 Mb/s with 500 us each way. Two to ten minutes.
. "$(dirname "$0")/testguest.sh"

perftest() { # PROGRAM OPTION...
    local try
    echo "== $*"
    nice -n 19 timeout 60 "$1" -d rxe2 -x 1 -F "${@:2}" >/dev/null 2>&1 &
    for try in {1..100}; do
        ss -ltn | grep -q ':18515 ' && break
        sleep 0.05
    done
    [ "$try" -lt 100 ] || echo 'the server does not listen'
    nice -n 19 timeout 60 "$1" -d rxe1 -x 1 -F "${@:2}" 10.77.0.2 2>&1
    wait
}

measure() {
    local end verb
    # perftest's two programs poll all the time on the guest's only processor: with the kernel's time slice, a
    # tick of 4 ms, each would wait that long for the other
    mount -t debugfs debugfs /sys/kernel/debug || return
    echo 100000 >/sys/kernel/debug/sched/base_slice_ns || return
    echo HRTICK >/sys/kernel/debug/sched/features || return
    for end in eth1 eth2; do
        tc qdisc add dev $end root netem rate 200mbit delay 500us limit 10000
    done
    echo '== muster'
    links_of_two --passes=verbs --verbs=write,read,send,ud --quick --json
    for verb in write read send; do
        perftest ib_${verb}_lat -s 8 -n 200
        perftest ib_${verb}_bw -s 65536 -n 200
    done
    perftest ib_send_bw -c UD -s 1024 -n 2000
}

in_guest measure --repeatable --memory 1500 --time-limit 800
is "$status" 0 'a guest with a slow cable'
links() { section muster | jq -Rr "fromjson? | select(.node == \"n1\") | $1"; }
within() { # FOUND EXPECTED
    echo "# muster $1, perftest $2" >&3
    awk -v found="$1" -v expected="$2" \
        'BEGIN { exit !(found > 0 && found > 0.97 * expected && found < 1.03 * expected) }'
}
exec 3>&1
for verb in write read send; do
    # the minimum, column 3 of "#bytes #iterations t_min"
    ok "latency of $verb within 3 %" \
        within "$(links "select(.metric == \"latency_rc_$verb\") | .value")" \
        "$(section "ib_${verb}_lat -s 8 -n 200" | awk '$1 == 8 && $2 == 200 { print $3 }')"
    # the average; its MB/sec are 2^20 bytes
    ok "bandwidth of $verb within 3 %" \
        within "$(links "select(.metric == \"bandwidth_rc_$verb\") | .value")" \
        "$(section "ib_${verb}_bw -s 65536 -n 200" | awk '$1 == 65536 && $2 == 200 { print $4 * 8 * 1.048576 }')"
done
ok 'bandwidth of datagrams within 3 %' \
    within "$(links 'select(.metric == "bandwidth_ud_send") | .value')" \
    "$(section 'ib_send_bw -c UD -s 1024 -n 2000' | awk '$1 == 1024 && $2 == 2000 { print $4 * 8 * 1.048576 }')"
done_testing
