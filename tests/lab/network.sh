# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# network.sh - the lab's switches and links.
#
#   muster-NAME-fabric   bridges mgmt, leaf1, leaf2; uplink1-uplink2 join the leaves
#   muster-NAME-head     eth0 on mgmt; so has muster-NAME-backup, where there is one
#   muster-NAME-n1 ...   eth0 on mgmt, eth1 and eth2 (the rails) on the node's leaf
#
# The switch's end of n1's eth1 is n1-eth1 in the fabric. Nothing is left in the machine's own
# network namespace, so labs may use the same addresses.

ns_of() { # HOST
    echo "muster-$name-$1"
}

leaf_of() { # NODE
    if [ "${1#n}" -le "$half" ]; then echo leaf1; else echo leaf2; fi
}

# The networks have consecutive addresses: /24 each, or /22 if a /24 has too few addresses.
readonly address_bits='nodes <= 250 ? 24 : 22' # for $((...))

address_of() { # HOST [RAIL]
    local number=${1#n} span=$((1 << (24 - address_bits)))
    case $1 in
    head) number=$((span * 256 - 2)) ;;
    backup) number=$((span * 256 - 3)) ;;
    esac
    echo "10.$octet.$((${2:-0} * span + number / 256)).$((number % 256))"
}

# Prints the qdisc of a link for tc, which delays frames beyond the rate. The bucket holds 1.6 ms of the
# rate, and at least two jumbo frames. A smaller bucket loses rate whenever a timer is late, often by 1 ms
# on a busy virtual machine. A larger one makes a short transfer after a pause look faster than the link
# (now 1 MiB by 4 %). The queue is as long as that of a shallow switch.
shape() { # MBPS
    local burst=$((200 * $1)) limit=$((2500 * $1))
    echo "tbf rate $((1000 * $1))kbit burst $((burst < 18200 ? 18200 : burst))" \
        "limit $((limit < 400000 ? 400000 : limit))"
}

uplink_mbps() {
    echo $((half * rail_mbps))
}

# Namespaces of this lab, by their exact names: another lab may be called NAME-n1.
namespaces() {
    local path
    for path in /run/netns/"muster-$name-"*; do
        if [[ ${path##*/} =~ ^muster-$name-(fabric|head|backup|n[0-9]+)$ ]]; then
            echo "${path##*/}"
        fi
    done
}

# ip(8) makes /run/netns and a mount on it with the first namespace and leaves both. One lab should
# not make them while another removes them; but no lab waits long (10 s) for another.
namespaces_lock() {
    namespaces_unlock # an `up` that was interrupted may still hold it
    exec {netns_lock}</run
    flock -w 10 "$netns_lock"
}

namespaces_unlock() {
    if [ -n "${netns_lock-}" ]; then
        exec {netns_lock}<&-
        netns_lock=
    fi
}

namespaces_create() {
    local host
    namespaces_lock || true
    for host in fabric $(hosts); do
        ip netns add "$(ns_of "$host")"
    done
    namespaces_unlock
}

namespaces_delete() {
    local ns
    for ns in $(namespaces); do
        ip netns del "$ns"
    done
    if namespaces_lock && [ -d /run/netns ] && [ -z "$(ls -A /run/netns)" ]; then
        while mountpoint -q /run/netns && umount /run/netns; do :; done
        rmdir /run/netns
    fi
    namespaces_unlock
}

# Writes the batches that node-init runs: net.ip and net.tc in the directory of each host.
network_configure() {
    local host dir rail
    for host in $(hosts); do
        dir=$state/$host
        {
            echo "link set lo up"
            echo "addr add $(address_of "$host")/$((address_bits)) dev eth0"
            echo "link set eth0 up"
            if [[ $host == n* ]]; then
                for rail in 1 2; do
                    echo "addr add $(address_of "$host" $rail)/$((address_bits)) dev eth$rail"
                    # no segmentation offload: the shaper sees single frames, none longer than the MTU
                    echo "link set eth$rail up gso_max_segs 1"
                done
                echo "route add default via $(address_of head)"
            fi
        } >"$dir/net.ip"
        if [[ $host == n* ]]; then
            printf 'qdisc replace dev eth%d root %s\n' 1 "$(shape "$rail_mbps")" \
                2 "$(shape "$rail_mbps")" >"$dir/net.tc"
        fi
    done
}

# One batch makes the switches and every cable.
network_create() {
    local node rail number fabric host
    fabric=$(ns_of fabric)
    # A switch has no addresses of its own.
    nsenter --net="/run/netns/$fabric" sh -c '
        for dir in all default; do echo 1 >/proc/sys/net/ipv6/conf/$dir/disable_ipv6; done'
    {
        echo "link add mgmt up type bridge forward_delay 0 mcast_snooping 0"
        echo "link add leaf1 up mtu 9000 type bridge forward_delay 0 mcast_snooping 0"
        echo "link add leaf2 up mtu 9000 type bridge forward_delay 0 mcast_snooping 0"
        echo "link add uplink1 up mtu 9000 master leaf1 type veth peer name uplink2 mtu 9000"
        echo "link set uplink2 up master leaf2"
        for host in $(controllers); do
            number=$(address_of "$host")
            echo "link add $host-eth0 up master mgmt type veth peer name eth0" \
                "address 02:00:$(mac_byte "$octet"):00:ff:$(mac_byte "${number##*.}") netns $(ns_of "$host")"
        done
        for node in $(node_names); do
            number=${node#n}
            for rail in 0 1 2; do
                echo "link add $node-eth$rail up master $(switch_of "$node" $rail)" \
                    "mtu $(mtu_of $rail) type veth peer name eth$rail mtu $(mtu_of $rail)" \
                    "address 02:00:$(mac_byte "$octet"):0$rail:$(mac_byte $((number / 256))):$(mac_byte $((number % 256)))" \
                    "netns $(ns_of "$node")"
            done
        done
    } | ip -n "$fabric" -batch -
    {
        for rail in uplink1 uplink2; do
            echo "qdisc replace dev $rail root $(shape "$(uplink_mbps)")"
        done
        for node in $(node_names); do
            for rail in 1 2; do
                echo "qdisc replace dev $node-eth$rail root $(shape "$rail_mbps")"
            done
        done
    } | tc -n "$fabric" -batch -
}

mac_byte() { printf '%02x' "$1"; }

mtu_of() { # RAIL
    if [ "$1" = 0 ]; then echo 1500; else echo 9000; fi
}

switch_of() { # NODE RAIL
    if [ "$2" = 0 ]; then echo mgmt; else leaf_of "$1"; fi
}

link_shape() { # NODE IFACE MBPS: both directions
    link_shape_sends "$@"
    link_shape_receives "$@"
}

link_shape_sends() { # NODE IFACE MBPS: at the node
    # shellcheck disable=SC2046 # words
    tc -n "$(ns_of "$1")" qdisc replace dev "$2" root $(shape "$3")
}

link_shape_receives() { # NODE IFACE MBPS: at the switch
    # shellcheck disable=SC2046 # words
    tc -n "$(ns_of fabric)" qdisc replace dev "$1-$2" root $(shape "$3")
}

# Shapes at the switch: what PEER sends to NODE on IFACE runs at MBPS, all else at the rail's speed.
path_shape() { # NODE PEER IFACE MBPS
    local fabric port=$1-$3
    fabric=$(ns_of fabric)
    tc -n "$fabric" -batch - <<BATCH
qdisc replace dev $port root handle 1: htb default 2
class add dev $port parent 1: classid 1:1 htb rate $4mbit burst 64k cburst 64k quantum 9018
class add dev $port parent 1: classid 1:2 htb rate ${rail_mbps}mbit burst 64k cburst 64k quantum 9018
qdisc add dev $port parent 1:1 bfifo limit 500000
qdisc add dev $port parent 1:2 bfifo limit 500000
filter add dev $port parent 1: protocol ip u32 match ip src $(address_of "$2" "${3#eth}")/32 flowid 1:1
BATCH
}

link_set() { # NODE IFACE up|down: at the switch, as if the cable were pulled
    ip -n "$(ns_of fabric)" link set "$1-$2" "$3"
}

link_mtu() { # NODE IFACE MTU: at the node
    ip -n "$(ns_of "$1")" link set "$2" mtu "$3"
}

port_mtu() { # NODE IFACE MTU: at the switch
    ip -n "$(ns_of fabric)" link set "$1-$2" mtu "$3"
}

# Moves both rails of a node from its leaf to a switch of their own, NODE-host, with one link of MBPS
# to the leaf.
host_link_insert() { # NODE MBPS
    local fabric qdisc
    fabric=$(ns_of fabric)
    qdisc=$(shape "$2")
    ip -n "$fabric" link show "$1-host" >/dev/null 2>&1 ||
        ip -n "$fabric" -batch - <<BATCH
link add $1-host up mtu 9000 type bridge forward_delay 0 mcast_snooping 0
link add $1-up up mtu 9000 master $1-host type veth peer name $1-down mtu 9000
link set $1-down up master $(leaf_of "$1")
link set $1-eth1 master $1-host
link set $1-eth2 master $1-host
BATCH
    tc -n "$fabric" -batch - <<BATCH
qdisc replace dev $1-up root $qdisc
qdisc replace dev $1-down root $qdisc
BATCH
}

host_link_remove() { # NODE
    local fabric
    fabric=$(ns_of fabric)
    ip -n "$fabric" link show "$1-host" >/dev/null 2>&1 || return 0
    ip -n "$fabric" -batch - <<BATCH
link set $1-eth1 master $(leaf_of "$1")
link set $1-eth2 master $(leaf_of "$1")
link del $1-up
link del $1-host
BATCH
}

# Moves a port from its switch to a switch of its own, PORT-cable, with two tap devices between the two
# switches; the program delay carries frames from one device to the other.
cable_insert() { # PORT
    local port=$1 fabric master
    fabric=$(ns_of fabric)
    master=$(master_of "$port")
    ip -n "$fabric" -batch - <<BATCH
tuntap add dev $port-near mode tap
tuntap add dev $port-far mode tap
link add $port-cable up mtu 9000 type bridge forward_delay 0 mcast_snooping 0
link set $port-near up mtu 9000 master $port-cable
link set $port-far up mtu 9000 master $master
link set $port master $port-cable
BATCH
}

cable_wait() { # PORT: waits until the program delay carries frames; fails after 20 s
    local end _
    for end in near far; do
        for _ in {1..1000}; do
            ! ip -n "$(ns_of fabric)" link show "$1-$end" | grep -q LOWER_UP || continue 2
            sleep 0.02
        done
        return 1
    done
}

cable_remove() { # PORT
    local port=$1 fabric
    fabric=$(ns_of fabric)
    ip -n "$fabric" link show "$port-cable" >/dev/null 2>&1 || return 0
    ip -n "$fabric" -batch - <<BATCH
link set $port master $(master_of "$port-far")
link del $port-cable
link del $port-near
link del $port-far
BATCH
}

master_of() { # PORT
    ip -n "$(ns_of fabric)" -o link show "$1" | grep -o 'master [^ ]*' | cut -d' ' -f2
}

uplink_shape() { # MBPS
    local qdisc
    qdisc=$(shape "$1")
    # shellcheck disable=SC2086
    tc -n "$(ns_of fabric)" qdisc replace dev uplink1 root $qdisc
    # shellcheck disable=SC2086
    tc -n "$(ns_of fabric)" qdisc replace dev uplink2 root $qdisc
}
