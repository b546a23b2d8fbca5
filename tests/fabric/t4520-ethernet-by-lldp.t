#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An Ethernet network as real lldpd reports it: four nodes and two bridges in network namespaces. A cable in
# the wrong bridge is named; once it is moved, nothing is wrong.
. "$(dirname "$0")/../tap.sh"

top=$(cd -P "$(dirname "$0")/../.." && pwd)
muster=$top/.lab/prefix/bin/muster
[ -x "$muster" ] || bail "$muster is not there: make install, or ./quickstart"
[ "$(id -u)" -eq 0 ] || skip_all 'namespaces need root'
command -v lldpcli >/dev/null || skip_all 'no lldpd (Debian: lldpd)'
getent passwd _lldpd >/dev/null || skip_all 'lldpd has no user to be'
dir=$(mktemp -d) || bail 'no folder to work in'
chmod 711 "$dir"
tag=ml$$
pids=()
tap_cleanup() {
    [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null
    wait
    for host in n1 n2 n3 n4 leaf1 leaf2; do ip netns del "$tag-$host" 2>/dev/null; done
    rm -rf "$dir"
}

host() { # NAME: makes its network namespace and its directory
    ip netns add "$tag-$1" || skip_all 'no network namespaces here'
    ip -n "$tag-$1" link set lo up
    mkdir "$dir/$1"
}
start_lldpd() { # NAME: starts lldpd there, which announces that name
    # lldpd keeps its chroot in /run: each has a /run of its own
    ip netns exec "$tag-$1" unshare -u -m sh -c \
        "hostname $1; mount -t tmpfs none /run; mkdir -p /run/lldpd; exec lldpd -d -u $dir/$1/socket" \
        >"$dir/$1/log" 2>&1 &
    pids+=($!)
}
cable() { # NODE LEAF PORT
    ip -n "$tag-$1" link add eth1 type veth peer name "$3" netns "$tag-$2"
    ip -n "$tag-$2" link set "$3" master br0 up
    ip -n "$tag-$1" link set eth1 up
}
send_each_second() { within 60 lldpcli -u "$dir/$1/socket" configure lldp tx-interval 1; } # NAME
wait_for_neighbors() { # LEAF: waits until all nodes have heard of a leaf, at most a minute
    local end=$((SECONDS + 60)) node heard
    mkdir -p "$dir/lldp"
    while [ $SECONDS -lt $end ]; do
        heard=0
        for node in n1 n2 n3 n4; do
            lldpcli -u "$dir/$node/socket" -f json show neighbors details >"$dir/lldp/$node.json" 2>/dev/null
            grep -q "\"$1\|\"leaf" "$dir/lldp/$node.json" && heard=$((heard + 1))
        done
        [ $heard -eq 4 ] && return
        sleep 0.1
    done
}
judge() {
    text=$("$muster" topology --fabric --lldp "$dir/lldp" -t "$dir/conf" 2>&1)
    status=$?
}

printf 'SwitchName=leaf1 Nodes=n[1-2]\nSwitchName=leaf2 Nodes=n[3-4]\n' >"$dir/conf"
for name in leaf1 leaf2 n1 n2 n3 n4; do host $name; done
for leaf in leaf1 leaf2; do
    ip -n "$tag-$leaf" link add br0 type bridge
    ip -n "$tag-$leaf" link set br0 up
done
cable n1 leaf1 swp1
cable n2 leaf2 swp9
cable n3 leaf2 swp1
cable n4 leaf2 swp2
for name in leaf1 leaf2 n1 n2 n3 n4; do start_lldpd $name; done
for name in leaf1 leaf2 n1 n2 n3 n4; do
    send_each_second $name || bail "lldpd does not start: $(tail -n 3 "$dir/$name/log")"
done
wait_for_neighbors leaf
judge
is "$status" 1 'a cable in the wrong switch' || diag "$text" "$(<"$dir/lldp/n2.json")"
like "$text" '^fail +n2 eth1 is on leaf2 \(.*\) swp9, it belongs on leaf1 \(.*\): move its cable there' '... is named with its port'
is "$(grep -c '^fail' <<<"$text")" 1 '... and nothing else'

ip -n "$tag-leaf2" link del swp9
cable n2 leaf1 swp2
is_well() {
    wait_for_neighbors leaf1
    judge
    # a switch that was not heard of yet is no fault
    [ "$status" -eq 0 ] && grep -q '^leaf1 ' <<<"$text"
}
within 60 is_well
is "$status" 0 'in the right switch nothing is wrong' || diag "$text"
like "$text" '^leaf1 +[0-9a-f:]+ +leaf .* n\[1-2\]$' '... with the leaf that LLDP reports'

done_testing
