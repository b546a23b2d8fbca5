# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# hardware.sh - the emulator's arguments for each topology.

readonly topologies='pair, rails, numa, machines, none'

is_topology() { # NAME
    [[ ", $topologies, " == *", $1, "* && $1 != *,* ]]
}

# Prints a socket's part of the PCIe tree: a root port, below it a switch, and below that a display card that
# stands in for a GPU and a network card with virtual functions, which is cabled to the card of the other
# socket.
socket() { # SOCKET
    local s=$1 chassis=$((10 * ($1 + 1)))
    echo -device "pxb-pcie,id=root$s,bus_nr=$((64 * (s + 1))),bus=pcie.0,numa_node=$s"
    echo -device "pcie-root-port,id=port$s,bus=root$s,chassis=$chassis,slot=1"
    echo -device "x3130-upstream,id=up$s,bus=port$s"
    echo -device "xio3130-downstream,id=gpu$s,bus=up$s,chassis=$((chassis + 1)),slot=0"
    echo -device "xio3130-downstream,id=nic$s,bus=up$s,chassis=$((chassis + 2)),slot=1"
    echo -device "ati-vga,bus=gpu$s,romfile="
    echo -netdev "hubport,id=cable$s,hubid=0"
    echo -device "igb,bus=nic$s,netdev=cable$s,mac=02:77:00:00:00:0$s,romfile="
}

# Prints arguments of the emulator, one per line.
hardware() { # TOPOLOGY MEMORY-MB MACHINE RUN-DIRECTORY
    case $1 in
    numa)
        {
            echo -smp 2,sockets=2
            for s in 0 1; do
                echo -object "memory-backend-ram,id=memory$s,size=$(($2 / 2))M"
                echo -numa "node,nodeid=$s,cpus=$s,memdev=memory$s"
            done
            socket 0
            socket 1
            # a card directly at the first socket
            echo -netdev hubport,id=cable2,hubid=1
            echo -device e1000e,bus=pcie.0,netdev=cable2,mac=02:77:00:00:00:02,romfile=
        } | tr ' ' '\n'
        ;;
    machines)
        {
            echo -smp 1
            echo -netdev "stream,id=cable,server=$([ "$3" = 1 ] && echo on || echo off),addr.type=unix,addr.path=$4/cable$([ "$3" = 1 ] || echo ,reconnect=1)"
            echo -device "virtio-net-pci,netdev=cable,mac=02:77:00:00:00:0$3,romfile=,speed=100000,duplex=full"
        } | tr ' ' '\n'
        ;;
    *) printf '%s\n' -smp 1 ;;
    esac
}
