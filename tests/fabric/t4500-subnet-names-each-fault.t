#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# On simulated InfiniBand subnets of 2, 64 and 648 nodes under a real subnet manager muster finds what
# ibnetdiscover and iblinkinfo find, nothing wrong where nothing is, and of each planted fault one
# finding that names it; when the fault is gone so is the finding.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/ibsim.sh"

top=$(cd -P "$(dirname "$0")/../.." && pwd)
muster=$top/.lab/prefix/bin/muster
[ -x "$muster" ] || bail "$muster is not there: make install, or ./quickstart"
"$muster" topology --fabric 2>&1 | grep -q 'built without libibnetdisc' &&
    skip_all 'muster was built without libibnetdisc'
reason=$(subnet_missing) && skip_all "$reason"
subnet_missing >/dev/null
subnet_dir=$(mktemp -d) || bail 'no folder to work in'
tap_cleanup() {
    subnet_down
    rm -rf "$subnet_dir"
}
make=$(dirname "$0")/make-subnet

judge() { # $text, $status, $findings
    text=$(subnet_run "$muster" topology --fabric -t "$subnet_dir/conf" 2>"$subnet_dir/err")
    status=$?
    findings=$(grep -E '^(fail|warn) ' <<<"$text")
}

boot() { # OPTION...
    python3 "$make" "$@" >"$subnet_dir/net" || bail 'the subnet cannot be made'
    subnet_down
    subnet_up "$subnet_dir/net" || bail 'ibsim or opensm does not start'
}


sound() { # SHAPE NODES SWITCHES
    shape=$1
    # shellcheck disable=SC2086
    python3 "$make" $shape --conf >"$subnet_dir/conf"
    # shellcheck disable=SC2086
    boot $shape
    judge
    is "$status $findings" '0 ' "$2 nodes: nothing is wrong" || diag "$text $(<"$subnet_dir/err")"
    subnet_run ibnetdiscover >"$subnet_dir/discovered"
    is "$(grep -c ' 0x[0-9a-f]* ' <<<"$text")" "$(grep -c ^Switch "$subnet_dir/discovered")" '... as many switches as ibnetdiscover finds'
    is "$(sed -n 's/^nodes *\([0-9]*\),.*/\1/p' <<<"$text")" \
        "$(sed -n 's/^Ca.*# "\([^ ]*\) .*/\1/p' "$subnet_dir/discovered" | sort -u | wc -l)" '... as many nodes'
    is "$(sed -n 's/^[^ ]* *0x\([0-9a-f]*\) .* \(n[^ ]*\)$/\1 \2/p' <<<"$text" | grep -c '')" "$3" '... the leaves with nodes'
    # what it reads from ibnetdiscover's own file is the same
    is "$("$muster" topology --fabric --from "$subnet_dir/discovered" -t "$subnet_dir/conf" | sed 1d)" \
        "$(sed 1d <<<"$text")" "... the same from ibnetdiscover's file"
}

fault() { # FAULT SENTENCE
    # shellcheck disable=SC2086
    boot $shape --fault "$1"
    judge
    is "$status $(grep -c . <<<"$findings")" '1 1' "one finding: $1" || diag "$text $(<"$subnet_dir/err")"
    like "$findings" "$2" '... and its sentence'
}

# What iblinkinfo says of links at that width and speed: both ends of one.
linkinfo_has() { # WIDTH SPEED
    is "$(subnet_run iblinkinfo | grep -c "( *$1 *$2 Gbps")" 2 "... iblinkinfo has one link at $1 $2 Gb/s"
}

sound '--nodes 2 --per-leaf 2 --spines 0' 2 1
fault 'missing n2' '^fail +n2 is not in the subnet'
fault 'narrow n2 0' '^fail +n2 mlx5_0:1 - leaf1 .* port 2 runs at 1x HDR \(50 Gb/s\)'
linkinfo_has 1X 53.125
fault 'slow n2 0' '^fail +n2 mlx5_0:1 - leaf1 .* port 2 runs at 4x EDR \(100 Gb/s\)'
linkinfo_has 4X 25.78125

sound '--nodes 64 --per-leaf 8 --spines 4 --cables 2 --rails 2' 64 16
fault 'misplaced n20 1 leaf7b' '^fail +n20 mlx5_1:1 is on leaf7b .* port 17, it belongs on leaf3b .*its port 4 is empty'
fault 'crossed n20 0 1' '^fail +n20 has its rails crossed: '
fault 'missing-rail n20 0' '^fail +n20 mlx5_0:1 has no link, 7 of its 7 neighbours have'
fault 'uplinks-slow leaf3b' '^fail +all 8 links to other switches of leaf3b .* run at 4x EDR \(100 Gb/s\), 120 of 128 links of their kind at 4x HDR'
fault 'leaf leaf3a' '^fail +leaf3: none of its 8 nodes has its rail mlx5_0:1'
fault 'uplink leaf3b spine2' '^fail +leaf3b .* has 7 uplinks, 15 of 15 switches like it have 8: check the cable of its port 11 to spine2 .* port 11$'

# One cable out and in again while the subnet runs
sound '--nodes 64 --per-leaf 8 --spines 4 --cables 2 --rails 2' 64 16
subnet_say 'Unlink "H-000000000d001410"[1]'
subnet_sweep
judge
like "$findings" '^fail +n20 mlx5_1:1 has no link' 'a cable that is pulled'
is "$(grep -c . <<<"$findings")" 1 '... is one finding'
subnet_say 'Relink "H-000000000d001410"[1]'
subnet_sweep
judge
is "$status $findings" '0 ' '... and none when it is back'
subnet_say 'PerformanceSet "H-000000000d001410"[1] PortCounters.SymbolErrorCounter=4000'
subnet_say 'PerformanceSet "S-00000000000a1003"[4] PortCounters.LinkErrorRecoveryCounter=44'
sleep 0.5
judge
like "$findings" '^warn +n20 mlx5_1:1 - leaf3b .* port 4 has counted 44 link recoveries at leaf3b .*; 4000 symbol errors at n20 mlx5_1:1: reseat or replace the cable' 'errors at both ends of a link'
is "$status $(grep -c . <<<"$findings")" '0 1' '... are one finding, and no failure'

sound '--nodes 648 --per-leaf 18 --spines 18' 648 36
fault 'misplaced n333 0 leaf3' '^fail +n333 mlx5_0:1 is on leaf3 .* port 37, it belongs on leaf19 .*its port 9 is empty'
fault 'swapped n333 n5 0' '^fail +n5 mlx5_0:1 and n333 mlx5_0:1 are in each other.s place'
fault 'missing n333' '^fail +n333 is not in the subnet'
fault 'uplink-narrow leaf19 spine7' '^fail +leaf19 .* port 25 - spine7 .* port 19 runs at 1x HDR \(50 Gb/s\), 647 of 648 links of its kind at 4x HDR'
linkinfo_has 1X 53.125
fault 'uplink leaf19 spine7' '^fail +leaf19 .* has 17 uplinks, 35 of 35 switches like it have 18: check the cable of its port 25 to spine7 .* port 19$'
fault 'uplinks-swapped leaf2 leaf19 spine7 spine8' '^fail +uplinks of leaf2 .* and leaf19 .* are in each other.s place'
fault 'leaf leaf19' '^fail +leaf19: none of its 18 nodes \(n\[325-342\]\) is in the subnet'

done_testing
