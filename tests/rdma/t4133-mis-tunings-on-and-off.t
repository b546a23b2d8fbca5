#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Mis-tunings of real sites, one after another between the same two ports, are each injected, named by a
# message and removed: a wrong GID index, an MTU that the path does not have, RoCE without locked
# memory, a port that is down with its interface up, MPI over TCP although there is RDMA. A mis-tuning
# leaves no trace in the next one, and at the end nothing is wrong, as at the beginning. In
# repeatable time. (Slow and lossy rails: t4131.) Five to ten minutes.
. "$(dirname "$0")/testguest.sh"

module=$top/.lab/rdma/muster_port.ko
export module
[ -e "$module" ] || skip_all "the module of ports that are down was not built, see $top/.lab/rdma/fetch.log"

links() { links_of_two --passes=verbs --verbs=write --message=16K --quick --json; }

check() {
    links
    echo "status $?"
    MUSTER_CONF=/run/muster2.conf "$muster" check --only net.interfaces
    echo "check $?"
}

# Replaces the addresses of eth2. Each address gets the lowest free GID index.
readdress() { # ADDRESS...
    local address
    ip address flush dev eth2 scope global
    for address in "$@"; do
        ip address add "$address" dev eth2 nodad
    done
}

launch() { # MPIRUN-OPTION...
    local mpi_options="$*"
    two_nodes "$prefix/bin/muster-launch" --quick --json --time-limit=140
    echo "status $?"
}

# shellcheck disable=SC2016
measure() {
    local n
    echo '== good'
    check
    echo '== GID index'
    readdress 2001:db8::2/64 10.77.0.2/24
    links_of_two --passes=verbs --verbs=write --gid-index=1 --message=16K --quick --json
    readdress 10.77.0.2/24
    echo '== MTU'
    for n in 1 2; do # as a switch on the way with an MTU of 1000
        tc qdisc add dev eth$n clsact
        tc filter add dev eth$n egress protocol ip u32 match u16 0x0400 0x0400 at 2 action drop
    done
    links
    for n in 1 2; do
        tc qdisc del dev eth$n clsact
    done
    echo '== locked memory'
    chmod 0666 /dev/infiniband/*
    setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock \
        bash -c "ulimit -l 64; $(declare -f two_nodes links_of_two links); links"
    echo '== port'
    insmod "$module" device=rxe2
    check
    rmmod muster_port
    echo '== TCP'
    launch --mca pml ob1 --mca btl self,tcp
    echo '== RDMA'
    launch --mca pml ucx --mca opal_common_ucx_tls any --mca opal_common_ucx_devices any \
        -x UCX_TLS=rc -x UCX_IB_GID_INDEX=0 -x UCX_NET_DEVICES=rxe1:1,rxe2:1 -x "LD_PRELOAD=$work/last_wqe.so"
    echo '== good again'
    check
}

${CC:-cc} -shared -fPIC -O2 -o "$work/last_wqe.so" "$rdma_dir/last_wqe.c" -Wl,--no-as-needed -libverbs ||
    bail 'last_wqe.c cannot be built'
in_guest measure --repeatable --memory 1500 --time-limit 800
[ "$status" -eq 0 ] || tail -n 20 "$work/err" | sed 's/^/# /'
# prints the messages of a section, each once: both ends may report the same
wrong() { # SECTION
    section "$1" | jq -Rr 'fromjson? | select(.verdict == "fail" or .verdict == "warn") | .message' | sort -u
}

for section in good 'good again'; do
    is "$(wrong "$section")" '' "$section: nothing is wrong"
    like "$(section "$section")" '^status 0$' '... by muster-links'
    like "$(section "$section")" '^check 0$' '... and by muster check'
done
is "$(wrong 'GID index')" \
    'rxe1:1 of n1 uses GID index 1 (RoCE v2, ::ffff:10.77.0.1), rxe2:1 of n2 GID index 1 (RoCE v2, 2001:db8::2): connections between them hang; use GIDs of the same kind on all nodes (UCX_IB_GID_INDEX, NCCL_IB_GID_INDEX)' \
    'a wrong GID index is named'
is "$(wrong MTU)" \
    "n1 rxe1:1 -> n2 rxe2:1: packets of MTU 1024, which both ports support, are lost, packets of MTU 512 arrive: the path has a smaller MTU; check the MTU of switches and interfaces" \
    'an MTU that the path does not have is named'
like "$(wrong 'locked memory')" \
    '^rxe1:1 needs [0-9]+ MB of locked memory, the limit here is 0.06554 MB; set LimitMEMLOCK=infinity of slurmd.s unit' \
    'RoCE without locked memory is named'
down='rxe2:1 is DOWN (Disabled), though its interface eth2 is up: TCP works there and RDMA does not, so jobs fall back or hang; check the kernel log for the RDMA driver'"'"'s messages, then reload its driver'
is "$(wrong port)" "$down" 'a port that is down with its interface up is named'
is "$(section port | sed -n 's/^fail  *net.interfaces  *rxe2:1  *//p')" "$down" '... by muster check as well'
like "$(section port)" '^check 1$' '... and the check fails'
is "$(wrong TCP | sed 's/its [0-9.]* MB/its MB/')" \
    'n1: MPI sent its MB to other nodes by TCP, not by RDMA, although rxe1:1 is available (RoCE v2); check UCX_TLS, OMPI_MCA_pml, OMPI_MCA_btl and similar settings in the environment and in MPI'"'"'s files, and whether this MPI was built with UCX or libfabric
n2: MPI sent its MB to other nodes by TCP, not by RDMA, although rxe2:1 is available (RoCE v2); check UCX_TLS, OMPI_MCA_pml, OMPI_MCA_btl and similar settings in the environment and in MPI'"'"'s files, and whether this MPI was built with UCX or libfabric' \
    'TCP although there is RDMA is named'
is "$(wrong RDMA)" '' '... no such message with RDMA'
like "$(section RDMA)" '^status 0$' '... which carries the messages'
records_are_in_schema TCP '... with records as doc/records.md has them'
done_testing
