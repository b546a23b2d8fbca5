#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# On a machine with two sockets and PCIe switches, the distances of devices agree with lspci, hwloc and the
# kernel; each socket's GPU is served by the NIC beside it; and virtual functions are known as such and
# are no rails.
. "$(dirname "$0")/testguest.sh"

facts() {
    local name
    echo '== kernel'
    for name in eth1 eth2; do
        echo "$name $(cat "/sys/class/net/$name/device/numa_node")"
    done
    echo '== lspci'
    lspci -D -n -PP | awk '$2 == "0200:" || $2 == "0300:" { print $1 }'
    lstopo-no-graphics --of xml --filter io:all >"$work/lstopo.xml"
    echo '== topology'
    "$muster" topology --node --json
    echo '== inventory'
    "$muster" inventory --json
    echo '== served'
    "$muster" topology --node
    echo 2 >/sys/class/net/eth1/device/sriov_numvfs
    echo '== functions'
    "$muster" inventory --json
}
in_guest facts --topology numa --memory 1500 --time-limit 400
is "$status" 0 'a guest with two sockets'

inventory() { section inventory | jq -r "$1"; }
is "$(inventory '.nics[] | select(.name == ("eth1", "eth2")) | "\(.name) \(.numa_node)"')" "$(section kernel)" \
    "the NICs' sockets are the kernel's"

# The paths of PCI functions from their host bridge, as lspci writes them: "0000:40:00.0/41:00.0/..."
is "$(inventory '(.nics + .gpus)[] | .pci_path' | sed 's,^pci[^/]*/,,; s,/0000:,/,g' | sort)" \
    "$(section lspci | sort)" "the paths to NICs and GPUs are lspci's"

# Nearest common ancestor of each GPU and NIC in hwloc's tree: a bridge is a switch, a NUMA node a socket.
cat >"$work/levels.py" <<'END'
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
above = {child: parent for parent in root.iter() for child in parent}
devices = {o.get("pci_busid"): o for o in root.iter("object") if o.get("type") == "PCIDev"}
def chain(o):
    while o is not None:
        yield o
        o = above.get(o)
for a, b in zip(sys.argv[2::2], sys.argv[3::2]):
    of_a = list(chain(devices[a]))
    common = next(o for o in chain(devices[b]) if o in of_a)
    print("PIX" if common.get("type") == "Bridge" and common.get("pci_busid") else
          "PHB" if common.get("type") == "Bridge" else
          "SYS" if common.get("type") == "Machine" else "NODE")
END
pairs='' levels=''
for gpu in 0 1; do
    for n in 1 2; do
        pairs+=" $(inventory ".gpus[$gpu].pci") $(inventory ".rdma[] | select(.device == \"rxe$n\") | .pci")"
        levels+=$(section topology |
            jq -r "select(.metric == \"level\" and .part == \"gpu$gpu rxe$n:1\") | .message")$'\n'
    done
done
# shellcheck disable=SC2086
is "$(python3 "$work/levels.py" "$work/lstopo.xml" $pairs)" "${levels%$'\n'}" "the levels are hwloc's"
is "$(xargs <<<"$levels")" 'PIX SYS SYS PIX' '... one NIC behind the switch of each GPU'

for n in 1 2; do
    like "$(section served)" "^GPU$((n - 1)) -> rxe$n:1 \(PIX\)\$" "the GPU of socket $((n - 1)) is served by its NIC"
done

is "$(section functions | jq -r '[.nics[] | select(.virtual_function)] | length')" 2 'two virtual functions are made'
is "$(section functions | jq -r '[.fabric.rails[].name] | join(" ")')" 'rxe1:1 rxe2:1' '... and are no rails'
done_testing
