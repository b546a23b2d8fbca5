#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster inventory of recorded nodes, as tables and as JSON.
. "$(dirname "$0")/command.sh"
needs muster

for tree in h100-ib ethernet; do
    "$top_srcdir/tests/fixtures/unpack" "$top_srcdir/tests/fixtures/$tree.tree" "$dir/$tree"
done

text=$("$muster" inventory --root "$dir/h100-ib")
is "$?" 0 'inventory succeeds'
like "$text" '^node    h1: kernel 5.15.0-1053-generic, 224 CPUs, 2 NUMA nodes, 2016 GiB, nvidia 550.54.15$' 'the node'
like "$text" '^fabric  InfiniBand: mlx5_0:1 .* management is eno3 \(default route\)$' 'the fabric, with the reason'
like "$text" '^eno3  management  up +10 Gb/s +1500 +ixgbe +0000:0b:00.0 +0 +10.0.0.11/24 fd00::11/64$' 'a NIC'
like "$text" '^mlx5_5:1  InfiniBand  ACTIVE  400 Gb/s  ib5 ' 'an RDMA port'
like "$text" '^0000:9d:00.0  NVIDIA  NVIDIA H100 80GB HBM3  nvidia  /dev/nvidia4 ' 'a GPU'
unlike "$text" '[[:space:]]$' 'no line ends in spaces'
unlike "$text" $'\033' 'no color without a terminal'

if command -v jq >/dev/null; then
    json=$("$muster" inventory --json --root "$dir/h100-ib")
    is "$(jq -r '.fabric.rails | map(.name) | join(" ")' <<<"$json")" \
        'mlx5_0:1 mlx5_1:1 mlx5_2:1 mlx5_3:1 mlx5_4:1 mlx5_5:1 mlx5_6:1 mlx5_7:1' 'JSON: rails'
    is "$(jq -c '.gpus[0] | [.pci, .vendor, .pcie_width, has("ecc_uncorrected")]' <<<"$json")" \
        '["0000:1b:00.0","NVIDIA",16,false]' 'JSON: a GPU, without unknown fields'
    is "$(jq -c '[.virtual_machine, (.gpus[0] | has("pci_path"))]' <<<"$json")" '[false,false]' \
        'JSON: no virtual machine, no PCI path recorded'
    is "$(jq -r '.nics[0].addresses | join(" ")' <<<"$json")" '10.0.0.11/24 fd00::11/64' 'JSON: addresses'
else
    skip 4 'no jq'
fi

printf 'ManagementInterface=eno2\nFabricInterfaces=ens2f1\n' >"$dir/muster.conf"
text=$("$muster" inventory --root "$dir/ethernet" --config "$dir/muster.conf")
like "$text" '^fabric  Ethernet: ens2f1: FabricInterfaces \(conf\); management is eno2 \(conf\)$' \
    'the configuration overrides detection'
text=$(MUSTER_CONF=$dir/muster.conf "$muster" inventory --root "$dir/ethernet")
like "$text" '^fabric  Ethernet: ens2f0 ens2f1: ' "a recorded node is not judged by this machine's configuration"

text=$("$muster" inventory --root "$dir" 2>&1)
is "$?" 3 'a root without a node: status 3'
like "$text" "^muster inventory: $dir/sys/class/net: No such file or directory" '... with the reason'
text=$("$muster" inventory --root "$dir/ethernet" --config "$dir/none" 2>&1)
is "$?" 2 'a missing configuration is a usage error'
is "$text" "muster inventory: $dir/none: no such file" '... with the reason'
"$muster" inventory --root "$dir/h100-ib" >/dev/full 2>"$dir/err"
is "$?" 3 'a full disk: status 3'
like "$(<"$dir/err")" 'standard output: No space left' '... with the reason'
ok 'this machine has an inventory' env MUSTER_CONF= "$muster" inventory
done_testing
