#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# On simulated InfiniBand subnets of 2, 64 and 648 nodes under a real subnet manager, muster finds what
# ibnetdiscover and iblinkinfo find. Without a fault it has no finding. Each injected fault has one finding,
# which names it and is gone when the fault is.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/live.sh"

sound '--nodes 2 --per-leaf 2 --spines 0' 2 1
fault 'missing n2' 'fail +n2 is not in the subnet'
fault 'narrow n2 0' 'fail +n2 mlx5_0:1 - leaf1 .* port 2 runs at 1x HDR \(50 Gb/s\)'
linkinfo_has 1X 53.125
fault 'slow n2 0' 'fail +n2 mlx5_0:1 - leaf1 .* port 2 runs at 4x EDR \(100 Gb/s\)'
linkinfo_has 4X 25.78125

sound '--nodes 64 --per-leaf 8 --spines 4 --cables 2 --rails 2' 64 16
fault 'misplaced n20 1 leaf7b' 'fail +n20 mlx5_1:1 is on leaf7b .* port 17, it belongs on leaf3b .*its port 4 is empty'
fault 'crossed n20 0 1' 'fail +n20 has its rails crossed: '
fault 'missing-rail n20 0' 'fail +n20 mlx5_0:1 has no link, 7 of its 7 neighbors have'
fault 'uplinks-slow leaf3b' 'fail +all 8 links to other switches of leaf3b .* run at 4x EDR \(100 Gb/s\), 120 of 128 links of their kind at 4x HDR'
fault 'leaf leaf3a' 'fail +leaf3: none of its 8 nodes has its rail mlx5_0:1'
fault 'uplink leaf3b spine2' 'fail +leaf3b .* has 7 uplinks, 15 of 15 switches like it have 8: check the cable of its port 11 to spine2 .* port 11$'

# One cable out and in again while the subnet runs
sound '--nodes 64 --per-leaf 8 --spines 4 --cables 2 --rails 2' 64 16
subnet_command 'Unlink "H-000000000d001410"[1]'
subnet_sweep
judge -t "$dir/conf"
like "$findings" '^fail +n20 mlx5_1:1 has no link' 'a cable that is pulled'
is "$(grep -c . <<<"$findings")" 1 '... is one finding'
subnet_command 'Relink "H-000000000d001410"[1]'
subnet_sweep
judge -t "$dir/conf"
is "$status $findings" '0 ' '... and none when the cable is back'
subnet_command 'PerformanceSet "H-000000000d001410"[1] PortCounters.SymbolErrorCounter=4000'
subnet_command 'PerformanceSet "S-00000000000a1003"[4] PortCounters.LinkErrorRecoveryCounter=44'
both_count() { judge -t "$dir/conf"; [[ $findings == *' 44 link recoveries '*'4000 symbol errors'* ]]; }
within 60 both_count # ibsim takes a while
like "$findings" '^warn +n20 mlx5_1:1 - leaf3b .* port 4 has counted 44 link recoveries at leaf3b .*; 4000 symbol errors at n20 mlx5_1:1: reseat or replace the cable' 'errors at both ends of a link'
is "$status $(grep -c . <<<"$findings")" '0 1' '... are one finding, and no failure'
subnet_command 'PerformanceSet "H-000000000d001410"[1] PortCounters.SymbolErrorCounter=0'
subnet_command 'PerformanceSet "S-00000000000a1003"[4] PortCounters.LinkErrorRecoveryCounter=0'
none_counts() { judge -t "$dir/conf"; [ -z "$findings" ]; }
within 60 none_counts
is "$status $findings" '0 ' '... and none when the counters are cleared'

sound '--nodes 648 --per-leaf 18 --spines 18' 648 36
fault 'misplaced n333 0 leaf3' 'fail +n333 mlx5_0:1 is on leaf3 .* port 37, it belongs on leaf19 .*its port 9 is empty'
fault 'swapped n333 n5 0' 'fail +n5 mlx5_0:1 and n333 mlx5_0:1 are in each other.s place'
fault 'missing n333' 'fail +n333 is not in the subnet'
fault 'uplink-narrow leaf19 spine7' 'fail +leaf19 .* port 25 - spine7 .* port 19 runs at 1x HDR \(50 Gb/s\), 647 of 648 links of its kind at 4x HDR'
linkinfo_has 1X 53.125
fault 'uplink leaf19 spine7' 'fail +leaf19 .* has 17 uplinks, 35 of 35 switches like it have 18: check the cable of its port 25 to spine7 .* port 19$'
fault 'uplinks-swapped leaf2 leaf19 spine7 spine8' 'fail +uplinks of leaf2 .* and leaf19 .* are in each other.s place'
fault 'leaf leaf19' 'fail +leaf19: none of its 18 nodes \(n\[325-342\]\) is in the subnet'

done_testing
