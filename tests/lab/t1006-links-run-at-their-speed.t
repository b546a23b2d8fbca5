#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Rails and uplink run at their set speed, alone and together, and the right interface answers.
. "$(dirname "$0")/testlab.sh"

lab_up -n 4 --rail-mbps 50

expect() { # LOW HIGH FROM TO RAIL
    runs_at "$3 to $4, eth$5, of 50" "$@"
}

# A frame of 9014 bytes carries 8948 of TCP: 99.3 %. The rest of the margin is for a busy machine.
expect 45 51 n1 n2 1
expect 45 51 n2 n1 2
expect 45 51 n1 n3 1
expect 45 51 n4 n2 2

together() { # NAME FROM TO RAIL FROM TO RAIL
    local sum _
    for _ in {1..6}; do
        rate "${@:2:3}" 3 >"$work/one" &
        rate "${@:5:3}" 3 >"$work/two" &
        wait
        sum=$(($(cat "$work/one") + $(cat "$work/two")))
        ! between $sum 90 102 || break
    done
    ok "$1: $sum of 100 Mb/s" between "$sum" 90 102
}
# Two pairs across the leaves at once fill the uplink, which is fast enough for one rail of each node.
together 'two pairs through the uplink' n1 n3 1 n2 n4 1
together 'two rails at once' n1 n2 1 n1 n2 2

mac() { lab on "$1" cat "/sys/class/net/$2/address"; }
for rail in 0 1 2; do
    to=$(address n2 $rail)
    lab on n1 ping -c 1 -W 10 "$to" >/dev/null
    like "$(lab on n1 ip neigh show "$to")" "dev eth$rail lladdr $(mac n2 eth$rail)" \
        "n2's address on eth$rail is answered by eth$rail"
done
ok 'a jumbo frame passes between the leaves' \
    lab on n1 ping -c 1 -W 10 -M "do" -s 8972 "$(address n3 1)"
is "$(lab on n1 ip route show default | xargs)" "default via $(lab run hostname -i) dev eth0" \
    'the default route is the management network'

lab fault wrong-mtu n3 eth1 >/dev/null
not_ok 'with a wrong MTU it does not pass' \
    lab on n1 ping -c 1 -W 1 -M "do" -s 8972 "$(address n3 1)"
done_testing
