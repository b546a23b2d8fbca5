#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Faults of links: in one direction, of both rails together, at a leaf, intermittent, lost or late frames,
# long frames only; two at once; all gone after lab heal.
. "$(dirname "$0")/testlab.sh"

# slow rails need little processor time, so that a busy machine does not slow them further
lab_up -n 4 --rail-mbps 80

ok 'inject slow-sends n2 eth1' lab fault slow-sends n2 eth1
ok '... and slow-receives n3 eth2 beside it' lab fault slow-receives n3 eth2 40
runs_at 'n2 sends on eth1' 17 22 n2 n1 1
runs_at 'n2 receives on eth1' 60 84 n1 n2 1
runs_at 'n3 receives on eth2' 34 43 n4 n3 2
runs_at 'n3 sends on eth2' 60 84 n3 n4 2
ok 'heal' lab heal

ok 'inject slow-host n3' lab fault slow-host n3
runs_at 'n3 eth1 alone' 60 84 n3 n1 1
sent() { lab on n3 cat /sys/class/net/eth2/statistics/tx_bytes; }
has_sent() { [ "$(sent)" -gt "$1" ]; } # BYTES
to=$(address n4 2) before=$(sent)
lab on n4 iperf3 --server --one-off --daemon --bind "$to"
"$lab_dir/lab" -L "$name" on n3 sh -c "until iperf3 --client $to --time 600; do sleep 0.1; done" >/dev/null 2>&1 &
within 60 has_sent $((before + 4000000))
runs_at '... and while eth2 runs' 36 66 n3 n1 1
kill $!
wait $! 2>/dev/null
lab on n3 pkill -x iperf3
ok 'heal' lab heal
runs_at 'n3 eth1, healed' 60 84 n3 n1 1
is "$(lab status | grep -c 'injected faults: none')" 1 'none is left'

ok 'inject slow-leaf leaf2' lab fault slow-leaf leaf2
runs_at 'inside leaf2' 34 43 n3 n4 1
runs_at 'inside leaf1' 60 84 n1 n2 1
ok 'heal' lab heal

ok 'inject flaky-rail n1 eth1' lab fault flaky-rail n1 eth1 20 1 1
for _ in {1..40}; do
    lab on n1 tc qdisc show dev eth1 | grep -o 'rate [0-9]*Mbit'
    sleep 0.1
done >"$work/rates"
is "$(sort -u "$work/rates" | xargs)" 'rate 20Mbit rate 80Mbit' 'its speed changes back and forth'
ok 'heal' lab heal
sleep 1.2
is "$(lab on n1 tc qdisc show dev eth1 | grep -o 'rate [0-9]*Mbit')" 'rate 80Mbit' '... and stays at 80'

# Prints the shortest of fifty round trips, in us.
round_trip() { # FROM TO RAIL
    lab on "$1" ping -q -c 50 -i 0.02 "$(address "$2" "$3")" | awk -F'[ /]' '/^rtt/ { printf "%d", $7 * 1000 }'
}

ok 'inject long-rail n2 eth1' lab fault long-rail n2 eth1
ok '... and slow-rail beside it' lab fault slow-rail n2 eth1 40
trip=$(round_trip n2 n1 1)
ok "it is 1 ms longer each way: $trip us" between "$trip" 2000 9000
runs_at '... and as slow as injected' 34 43 n1 n2 1
ok 'heal' lab heal
trip=$(round_trip n2 n1 1)
ok "it is short again: $trip us" between "$trip" 1 1900
runs_at '... and fast' 60 84 n1 n2 1

# Prints how many of 200 packets come back.
answers() { # FROM TO RAIL
    lab on "$1" ping -q -c 200 -i 0.002 -W 1 "$(address "$2" "$3")" | sed -n 's/.*, \([0-9]*\) received.*/\1/p'
}

ok 'inject lossy-rail n2 eth1 20' lab fault lossy-rail n2 eth1 20
count=$(answers n2 n1 1)
ok "a fifth is lost each way: $count of 200 come back" between "$count" 90 165
is "$(answers n2 n1 2)" 200 '... on the other rail nothing'
ok 'inject corrupt-rail n2 eth1 20 instead' lab fault corrupt-rail n2 eth1 20
count=$(answers n2 n1 1)
ok "damaged packets are dropped: $count of 200 come back" between "$count" 90 165
ok 'heal' lab heal
is "$(answers n2 n1 1)" 200 'nothing is lost any more'
is "$(lab fault lossy-rail n2 eth1 two 2>&1 | grep -c PERCENT)" 1 'a PERCENT that is no number is refused'

ok 'inject lossy-path n1 n3 eth1 20' lab fault lossy-path n1 n3 eth1 20
count=$(answers n3 n1 1)
ok "a fifth is lost between the two each way: $count of 200 come back" between "$count" 90 165
is "$(answers n1 n2 1) $(answers n3 n4 1)" '200 200' '... and nothing between them and others'
ok 'heal' lab heal
ok 'inject lossy-uplink 20' lab fault lossy-uplink 20
count=$(answers n2 n4 2)
ok "a fifth is lost between the leaves each way: $count of 200 come back" between "$count" 90 165
is "$(answers n1 n2 2)" 200 '... and nothing within a leaf'
ok 'heal' lab heal
is "$(answers n1 n3 1) $(answers n2 n4 2)" '200 200' 'nothing is lost any more'

ok 'inject path-mtu n4 eth1' lab fault path-mtu n4 eth1
not_ok 'long frames vanish' lab on n3 ping -c 1 -W 1 -M 'do' -s 8000 "$(address n4 1)"
ok '... short ones do not' lab on n3 ping -c 1 -W 10 -M 'do' -s 1400 "$(address n4 1)"
ok 'heal' lab heal
ok 'long ones arrive' lab on n3 ping -c 1 -W 10 -M 'do' -s 8000 "$(address n4 1)"
ok 'inject flaky-rail again' lab fault flaky-rail n1 eth1
ok 'down' lab down
is "$(pgrep -f "lab -L $name fault" | xargs)" '' '... leaves no process of a fault'
done_testing
