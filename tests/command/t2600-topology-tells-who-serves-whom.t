#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster topology with nodes of known PCI trees: the matrix, both directions, JSON, exit status.
. "$(dirname "$0")/command.sh"
needs muster

put() { # PATH CONTENT
    mkdir -p "$dir/node/${1%/*}"
    printf '%s\n' "$2" >"$dir/node/$1"
}

function_at() { # PATH CLASS VENDOR NUMA-NODE
    local devices=sys/bus/pci/devices
    put "sys/devices/$1/class" "$2"
    put "sys/devices/$1/vendor" "$3"
    put "sys/devices/$1/device" 0x2330
    put "sys/devices/$1/numa_node" "$4"
    put "sys/devices/$1/local_cpulist" "$(($4 * 8))-$(($4 * 8 + 7))"
    mkdir -p "$dir/node/$devices"
    ln -s "../../../devices/$1" "$dir/node/$devices/${1##*/}"
}

gpu() { function_at "$1" 0x030200 0x10de "$2"; }

hca() { # NAME PATH NUMA-NODE STATE
    function_at "$2" 0x020700 0x15b3 "$3"
    put "sys/class/infiniband/$1/ports/1/link_layer" InfiniBand
    put "sys/class/infiniband/$1/ports/1/state" "$4"
    put "sys/class/infiniband/$1/ports/1/rate" '400 Gb/sec (4X NDR)'
    ln -s "../../../devices/$2" "$dir/node/sys/class/infiniband/$1/device"
}

new_node() {
    rm -rf "$dir/node"
    mkdir -p "$dir/node/sys/class/net"
    put proc/sys/kernel/hostname g7
    put sys/devices/system/node/online 0-1
}

# Two GPUs and a NIC on one switch, one more NIC below the next root port, one on the other CPU
new_node
switch=pci0000:15/0000:15:01.0/0000:16:00.0
gpu $switch/0000:17:00.0/0000:18:00.0 0
gpu $switch/0000:17:01.0/0000:19:00.0 0
hca mlx5_0 $switch/0000:17:02.0/0000:1a:00.0 0 '4: ACTIVE'
hca mlx5_1 pci0000:15/0000:15:02.0/0000:20:00.0 0 '4: ACTIVE'
hca mlx5_2 pci0000:97/0000:97:01.0/0000:98:00.0 1 '1: DOWN'
text=$("$muster" topology --node --root "$dir/node")
is "$?" 0 'topology succeeds'
like "$text" '^ +GPU0  GPU1  mlx5_0:1  mlx5_1:1  mlx5_2:1  CPU AFFINITY  NUMA$' 'the matrix has GPUs and rails'
like "$text" '^GPU0 +X +PIX +PIX +PHB +SYS +0-7 +0$' 'the row of a GPU'
like "$text" '^mlx5_0:1 +PIX +PIX +X +PHB +SYS +0-7 +0$' 'the row of a rail'
like "$text" '^mlx5_2:1 +SYS +SYS +SYS +SYS +X +8-15 +1$' 'the row of one on the other CPU'
like "$text" '^PHB   one host bridge$' 'the levels are explained'
like "$text" '^GPU1 +0000:19:00.0  NVIDIA 10de:2330$' 'GPUs have PCI addresses'
like "$text" '^mlx5_2:1  0000:98:00.0  InfiniBand +down$' 'rails have them, too, and their state'
like "$text" '^GPU0 -> mlx5_0:1 \(PIX\)$' 'the rails that serve a GPU'
like "$text" '^mlx5_0:1 -> GPU0 GPU1$' 'the GPUs that a rail serves'
like "$text" '^mlx5_1:1 -> none$' 'a rail that serves no GPU'
like "$text" '^mlx5_2:1 -> none: it is down$' '... with the reason'
unlike "$text" '[[:space:]]$' 'no line ends in spaces'

"$muster" topology --json --root "$dir/node" >"$dir/json"
is "$?" 0 'as JSON'
is "$(wc -l <"$dir/json")" $((5 + 10 + 5)) 'each device has two records, each pair a level'
like "$(<"$dir/json")" '"metric":"level","node":"g7","part":"gpu0 mlx5_0:1",.*"message":"PIX"' 'a level'
like "$(<"$dir/json")" '"metric":"rails","node":"g7","part":"gpu1","value":1,"unit":"count","verdict":"pass","message":"mlx5_0:1 \(PIX\)"' 'the rails of a GPU'
like "$(<"$dir/json")" '"metric":"gpus","node":"g7","part":"mlx5_0:1","value":2,"unit":"count","message":"GPU0 GPU1"' 'the GPUs of a rail'
records_hold 'the records are as doc/records.md says' <"$dir/json"

printf 'FabricInterfaces=mlx5_1\n' >"$dir/muster.conf"
like "$("$muster" topology --root "$dir/node" --config "$dir/muster.conf")" '^GPU0 -> mlx5_1:1 \(PHB\)$' \
    'the configuration chooses the rails'

# The same NICs, all down
for port in "$dir"/node/sys/class/infiniband/*/ports/1/state; do
    echo '1: DOWN' >"$port"
done
text=$("$muster" topology --root "$dir/node")
is "$?" 3 'if no rail is up, it is unknown which one serves a GPU: status 3'
like "$text" '^GPU0 -> none: no rail is up$' '... with the reason'

# A virtual machine with all devices on one flat bus, and one with NUMA nodes only
new_node
gpu pci0000:00/0000:00:05.0 -1
hca mlx5_0 pci0000:00/0000:00:06.0 -1 '4: ACTIVE'
text=$("$muster" topology --root "$dir/node")
is "$?" 3 'a flat virtual bus: status 3'
like "$text" '^GPU0 +X +\? ' '... in the matrix'
like "$text" '^GPU0 -> none: unknown from PCI paths and NUMA nodes$' '... and in the list'
"$top_srcdir/tests/fixtures/unpack" "$top_srcdir/tests/fixtures/h100-ib.tree" "$dir/h100"
text=$("$muster" topology --root "$dir/h100")
is "$?" 0 'without PCI paths: status 0'
like "$text" '^GPU7 -> mlx5_4:1 mlx5_5:1 mlx5_6:1 mlx5_7:1 \(NODE or nearer, the nearest one is unknown\)$' \
    '... all rails of the NUMA node serve'

new_node
text=$("$muster" topology --root "$dir/node")
is "$?" 0 'a node without GPUs and rails'
like "$text" '^No GPUs and no rails\.$' '... is reported as such'

text=$("$muster" topology --root "$dir" 2>&1)
is "$?" 3 'a root without a node: status 3'
like "$text" "^muster topology: $dir/sys/class/net: No such file or directory" '... with the reason'
text=$("$muster" topology cluster 2>&1)
is "$?" 2 'an extra argument is a usage error'
like "$text" "^muster topology: unexpected argument \"cluster\"" '... and is named'
"$muster" topology --root "$dir/h100" >/dev/full 2>"$dir/err"
is "$?" 3 'a full disk: status 3'
MUSTER_CONF='' "$muster" topology >"$dir/out" 2>&1
like "$?" '^[03]$' 'this machine has a topology'
done_testing
