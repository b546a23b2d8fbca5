# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# topology.sh - makes a guest's network. Sourced by second-init.

# Accepts packets from the host's own addresses. Only then two RDMA devices of one host reach each other
# through their interfaces, not inside the host.
let_own_packets_in() { # INTERFACE
    echo 1 >"/proc/sys/net/ipv4/conf/$1/accept_local"
    echo 0 >"/proc/sys/net/ipv4/conf/$1/rp_filter"
    echo 1 >"/proc/sys/net/ipv4/conf/$1/arp_ignore"
    echo 2 >"/proc/sys/net/ipv4/conf/$1/arp_announce"
}

rdma_on() { # NUMBER RAIL
    ip address add "10.77.$2.$1/24" dev "eth$1" || return
    ip link set "eth$1" up || return
    let_own_packets_in "eth$1"
    rdma link add "rxe$1" type rxe netdev "eth$1"
}

cable() { # NUMBER NUMBER RAIL
    ip link add "eth$1" type veth peer name "eth$2" || return
    rdma_on "$1" "$3" && rdma_on "$2" "$3"
}

# Names the interface that has a MAC address.
name_card() { # MAC NAME
    local path name
    for path in /sys/class/net/*/address; do
        name=${path%/address}
        name=${name##*/}
        if [ "$(cat "$path")" = "$1" ]; then
            [ "$name" = "$2" ] || ip link set "$name" name "$2"
            return
        fi
    done
    echo "there is no network card $1" >&2
    return 1
}

# Waits until all ports are active: an address becomes usable some time after the link is up.
wait_for_ports() {
    local port try
    for port in /sys/class/infiniband/*/ports/1; do
        for try in {1..100}; do
            grep -q ACTIVE "$port/state" && break
            sleep 0.05
        done
        [ "$try" -lt 100 ] || {
            echo "$port is not active" >&2
            return 1
        }
    done
}

topology_make() { # NAME MACHINE
    ip link set lo up
    [ "$1" = none ] && return
    echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
    # link-local addresses are usable at once, without duplicate detection
    echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
    echo 0 >/proc/sys/net/ipv6/conf/all/accept_dad
    # the modules of netem and tbf are loaded on demand
    modprobe -a rdma_rxe ib_uverbs rdma_ucm rdma_cm veth || return
    mount -t configfs configfs /sys/kernel/config
    case $1 in
    pair) cable 1 2 0 ;;
    rails) cable 1 2 0 && cable 3 4 1 ;;
    numa)
        modprobe -a igb igbvf e1000e &&
            name_card 02:77:00:00:00:00 tmp1 && name_card 02:77:00:00:00:01 tmp2 &&
            name_card 02:77:00:00:00:02 eth0 &&
            name_card 02:77:00:00:00:00 eth1 && name_card 02:77:00:00:00:01 eth2 &&
            rdma_on 1 0 && rdma_on 2 0
        ;;
    machines)
        modprobe virtio_net && name_card "02:77:00:00:00:0$2" eth1 &&
            ip address add "10.77.0.$2/24" dev eth1 && ip link set eth1 up &&
            rdma link add rxe1 type rxe netdev eth1
        ;;
    esac || return
    wait_for_ports
}
