#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Rings and MTU of two drivers, and RoCE mode and type of service of an RDMA port, are set and
# restored, also after kills; a setting that a driver refuses is named with its limit.
. "$(dirname "$0")/testguest.sh"

state() {
    local name
    for name in eth0 eth1 eth2; do
        echo "$name $(ethtool -g $name | awk '/^Current/ { on = 1 } on && /^[RT]X:/ { print $1 $2 }' | xargs)" \
            "mtu $(cat /sys/class/net/$name/mtu)"
    done
    (cd /sys/kernel/config/rdma_cm && grep -r .)
    true
}

conf() { printf '%s\n' 'InterfaceJournal=/run/journal' "$@" >/run/muster.conf; }

settings() {
    export MUSTER_CONF=/run/muster.conf
    local before _
    before=$(state)
    echo '== before'
    state
    conf 'Interface=eth0 rx-ring=2048' 'Interface=eth1 rx-ring=1024 tx-ring=512 mtu=4200 roce-mode=v2 roce-tos=106'
    echo '== apply'
    "$muster" interfaces --apply
    echo '== after'
    state
    echo '== restore'
    "$muster" interfaces --restore
    echo '== restored'
    state
    for _ in 05 10 15 20 30 40 60; do
        timeout -s KILL 0.$_ "$muster" interfaces --apply
        timeout -s KILL 0.$_ "$muster" interfaces --restore
    done >/dev/null 2>&1
    "$muster" interfaces --restore >/dev/null
    echo '== after kills'
    state
    conf 'Interface=eth1 rx-ring=8192' 'Interface=eth0 mtu=9217' 'Interface=eth2 roce-mode=v1 rx-ring=1001' \
        'Interface=eth0 roce-tos=1' 'Interface=eth1 pfc=3 dscp26=3'
    echo '== refused'
    "$muster" interfaces --apply
    echo "status $?"
    "$muster" interfaces --restore >/dev/null
    echo '== at the end'
    state
    [ "$(state)" = "$before" ]
}
in_guest settings --topology numa --time-limit 400
is "$status" 0 'at the end the interfaces are as before'
before=$(section before)
is "$before" 'eth0 RX:256 TX:256 mtu 1500
eth1 RX:256 TX:256 mtu 1500
eth2 RX:256 TX:256 mtu 1500' 'the state before'
is "$(section apply)" '6 settings applied, 0 restored, 0 failed' '--apply'
is "$(section after)" 'eth0 RX:2048 TX:256 mtu 1500
eth1 RX:1024 TX:512 mtu 4200
eth2 RX:256 TX:256 mtu 1500
rxe1/ports/1/default_roce_tos:106
rxe1/ports/1/default_roce_mode:RoCE v2' '... sets rings, MTU, type of service'
is "$(section restore)" '0 settings applied, 6 restored, 0 failed' '--restore'
is "$(section restored)" "$before" '... restores them, and removes the directory in configfs'
is "$(section 'after kills')" "$before" 'killed at any point, they are restored'

is "$(section refused | sed -n 's/; Interface line .*//p')" 'eth0: roce-config yes cannot be set: it has no RDMA port
eth0: roce-tos 1 cannot be set: it has no RDMA port
eth1: pfc 3 cannot be set: its driver has no DCB: Operation not supported
eth1: dscp26 3 cannot be set: its driver has no DCB: Operation not supported
eth1: rx-ring 8192 cannot be set: limit 4096: Invalid argument
eth0: mtu 9217 cannot be set: limit 9212: Invalid argument (mtu greater than device maximum)
eth2: rx-ring 1001 cannot be set: the driver sets it to rx-ring 1008; use a value that the driver accepts
eth2: roce-mode v1 cannot be set: Invalid argument' 'a setting that a driver refuses is named with its limit'
like "$(section refused)" '^status 1$' '... and fails --apply'
is "$(section 'at the end')" "$before" '... and leaves nothing behind'
done_testing
