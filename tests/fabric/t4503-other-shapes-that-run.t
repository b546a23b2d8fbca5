#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Under a real subnet manager: adapters with two ports, each named by device and port;
# three levels with cores of their own; a dragonfly; a torus. muster finds what ibnetdiscover and
# iblinkinfo find, and has one finding for each injected fault, including switches that are off.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/live.sh"

sound '--nodes 16 --per-leaf 4 --spines 2 --rails 4 --ports 2' 16 16
like "$text" '^nodes +16, rails mlx5_0:\[1-2\],mlx5_1:\[1-2\]$' '... with two ports of each adapter'
fault 'missing-rail n6 3' 'fail +n6 mlx5_1:2 has no link, 3 of its 3 neighbors have: .*it belongs on leaf2d '
fault 'crossed n6 0 1' 'fail +n6 has its rails crossed: mlx5_0:1 is on leaf2b .* and mlx5_0:2 is on leaf2a '
fault 'narrow n6 1' 'fail +n6 mlx5_0:2 - leaf2b .* port 2 runs at 1x HDR \(50 Gb/s\)'
linkinfo_has 1X 53.125

sound '--nodes 64 --per-leaf 4 --pods 4 --spines 4 --cores 4' 64 16
fault 'leaf core6' 'fail +all 4 switches like spine1-2 .* have 3 uplinks, those of 3 of 3 other groups have 4: port 126 is empty on all of them: see whether the switch above, to which that leads, is off$'
fault 'leaf spine3-2' 'fail +all 4 switches like leaf9 .* have 3 uplinks, .*: port 6 is empty on all of them: see whether the switch above'
fault 'uplink-narrow spine3-2 core6' 'fail +spine3-2 \(.*\) port 126 - core6 \(.*\) port 3 runs at 1x HDR \(50 Gb/s\), 63 of 64 links'
linkinfo_has 1X 53.125

sound '--nodes 72 --per-leaf 2 --spines 0 --mesh 4' 72 36
fault 'uplink leaf13 leaf14' 'fail +leaf13 .* and leaf14 .* have 4 cables to other switches each, 34 of 36 like them have 5: check the cable between them'
fault 'leaf leaf13' 'fail +leaf13: none of its 2 nodes \(n\[25-26\]\) is in the subnet'

sound '--nodes 32 --per-leaf 2 --spines 0 --torus 4' 32 16
fault 'swapped n3 n20 0' 'fail +n3 mlx5_0:1 and n20 mlx5_0:1 are in each other.s place'
fault 'leaf leaf6' 'fail +leaf6: none of its 2 nodes \(n\[11-12\]\) is in the subnet'

done_testing
