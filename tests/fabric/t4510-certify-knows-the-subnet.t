#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# If the nodes are in an InfiniBand subnet, muster certify compares their cables with
# topology.conf and with each other: a narrow link fails the node, a misplaced cable is a warning, a
# missing uplink fails no node, and leaves are those of the subnet.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/ibsim.sh"
reason=$(subnet_missing) && skip_all "$reason"
subnet_missing >/dev/null
. "$(dirname "$0")/../lab/testlab.sh"
. "$(dirname "$0")/../lab/certify.sh"
"$muster" topology --fabric 2>&1 | grep -q 'built without libibnetdisc' &&
    skip_all 'muster was built without libibnetdisc'

tap_cleanup() {
    subnet_down
    lab down >/dev/null
}

subnet_dir=$work
subnet_in=("$lab_dir/lab" -L "$name" run)
cc -shared -fPIC -o "$work/forget.so" "$top/tests/fabric/forget_preload.c" || bail 'no C compiler'

boot() { # FAULT...: starts a subnet with leaves of two nodes, named as in topology.conf
    local fault faults=()
    for fault in "$@"; do faults+=(--fault "$fault"); done
    subnet_down
    python3 "$top/tests/fabric/make-subnet" --nodes 4 --per-leaf 2 --spines 2 "${faults[@]}" >"$work/net"
    subnet_up "$work/net" || bail 'ibsim or opensm does not start'
}

certify_there() {
    output=$(timeout 300 "$lab_dir/lab" -L "$name" run env LD_PRELOAD="$subnet_preload $work/forget.so" IBSIM_SOCKNAME="$subnet_socket" \
        SIM_HOST="$subnet_host" "$muster" certify --json "$work/records" --dry-run 2>&1 </dev/null)
    status=$?
}

record() { # JQ-CONDITION
    jq -r "select(.suite == \"certify\" and .test == \"net.topology\" and ($1)) | \"\(.node) \(.part) \(.verdict): \(.message)\"" "$work/records"
}

boot 'narrow n3 0' 'misplaced n2 0 leaf2'
certify_there
is "$status" 1 'a narrow link and a misplaced cable' || diag "$output"
is "$(record '.verdict == "fail"' | cut -c-38)" 'n3 mlx5_0:1 fail: n3 mlx5_0:1 - leaf2 ' 'the link is its node'"'"'s fault'
like "$output" '^n3 +FAILED ' '... in the table too' || diag "$output"
like "$(record '.metric == "place"')" '^n2 mlx5_0:1 warn: n2 mlx5_0:1 is on leaf2 .* it belongs on leaf1 ' 'the cable is a warning'
is "$(record '.metric == "leaf"' | sed 's/ null null: / /' | xargs)" 'n1 leaf1 n2 leaf2 n3 leaf2 n4 leaf2' 'leaves are those to which the cables go'
valid 'all records are as doc/records.md says'

boot 'uplink leaf1 spine1'
certify_there
is "$status" 1 'a missing uplink is a fault' || diag "$output"
is "$(verdicts)" 'n1 pass n2 pass n3 pass n4 pass' '... of no node'
like "$output" 'leaf1 .* has 1 uplink, 1 of 1 switches like it have 2' '... and is named below the table' || diag "$output"

boot
certify_there
is "$status" 0 'if all cables are right nothing is wrong' || diag "$output"
is "$(record '.verdict == "fail" or .verdict == "warn"')" '' '... and nothing is reported'

done_testing
