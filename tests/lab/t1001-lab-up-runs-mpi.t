#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# After lab up jobs run at once, also MPI over each network; lab run passes on signals and exit status.
. "$(dirname "$0")/testlab.sh"

lab_up -n 4
is "$(lab run srun -N4 hostname | sort | xargs)" 'n1 n2 n3 n4' 'srun -N4 hostname'
like "$(lab up)" "already up" 'up of a lab that is up says so'
not_ok 'up with another number of nodes is refused' lab up -n 2
idle_nodes() { lab status | awk '$4 == "idle" { print $1 $2 }' | xargs; }
is_within 60 'n1leaf1 n2leaf1 n3leaf2 n4leaf2' 'status names nodes, leaves and states' idle_nodes
is "$(lab run scontrol show topology | awk '{ print $1 }' | xargs)" \
    'SwitchName=leaf1 SwitchName=leaf2 SwitchName=spine' 'Slurm knows the switches'

cat >"$work/sum.c" <<'END'
#include <mpi.h>
#include <stdio.h>
static double big[1 << 17];
int main(int argc, char **argv)
{
    int rank, size;
    double sum, mine;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine = rank;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, big, 1 << 17, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, sum %g\n", size, sum);
    MPI_Finalize();
    return 0;
}
END
ok 'an MPI program is built' lab run mpicc -o "$work/sum" "$work/sum.c"
sent() { lab on n1 cat "/sys/class/net/$1/statistics/tx_bytes"; }
# On a busy machine Slurm 22.05 sometimes lets ranks leave MPI_Init before all can receive messages (one
# launch in fifteen under load). Open MPI then crashes, which is no fault of the lab.
launch_over() { # INTERFACE
    for _ in 1 2 3; do
        OMPI_MCA_btl=self,vader,tcp OMPI_MCA_btl_tcp_if_include=$1 \
            lab run srun --mpi=pmix -N4 --ntasks-per-node=2 "$work/sum" 2>"$work/err" && break
        cat "$work/err" >&2
        grep -q 'Segmentation fault' "$work/err" || break
    done
}
for iface in eth0 eth1 eth2; do
    before=$(sent $iface)
    is "$(launch_over $iface)" '8 ranks, sum 28' "MPI over $iface"
    ok "its messages go through $iface" test $(($(sent $iface) - before)) -gt 1000000
done
like "$(lab run srun -N1 -n12 hostname | uniq -c | xargs)" '^12 n[1-4]$' 'twelve tasks fit a node'

is "$(echo through | lab run cat)" through 'standard input is passed'
is "$(cd "$work" && lab run pwd)" "$work" 'the working directory is kept'
status=0
lab run sh -c 'exit 42' || status=$?
is $status 42 'the exit status is passed'
status=0
lab run sh -c 'kill -9 $$' || status=$?
is $status 137 'and the signal that kills a command'
status=0
lab run /no/such 2>/dev/null || status=$?
is $status 127 'no such command: 127'

# not through the function lab, which would add a process in between
"$lab_dir/lab" -L "$name" run sh -c "trap 'echo got TERM >$work/signal; exit 3' TERM; echo >$work/ready; sleep 60 & wait" &
pid=$!
within 60 test -e "$work/ready"
kill -TERM $pid
status=0
wait $pid || status=$?
is "$status $(cat "$work/signal")" '3 got TERM' 'a signal reaches the command'
"$lab_dir/lab" -L "$name" run sh -c "echo \$\$ >$work/pid; exec sleep 1000" &
pid=$!
within 60 test -s "$work/pid"
kill -KILL $pid
wait $pid 2>/dev/null
ok 'a killed lab run takes its command along' \
    within 60 lab run sh -c "! kill -0 $(cat "$work/pid") 2>/dev/null"

for host in head n3; do
    is "$(lab on $host hostname)" $host "$host has its own name"
    is "$(lab on $host cat /etc/muster/muster.conf | grep -c '=eth')" 3 "$host has muster.conf"
done
ok 'files of a node are not visible on the others' \
    sh -c "$(declare -f lab); lab_dir=$lab_dir name=$name
        lab on n1 touch /tmp/a /dev/shm/a /run/a /etc/a /var/lib/muster/a &&
        ! lab on n2 sh -c 'ls /tmp/a || ls /dev/shm/a || ls /run/a || ls /etc/a || ls /var/lib/muster/a' &&
        ! ls /etc/a"

if [ -n "${MUSTER_LONG-}" ]; then # more nodes than a /24 has addresses
    lab down >/dev/null
    lab_up -n 300
    is "$(lab run srun -N300 hostname | sort -u | wc -l)" 300 'srun -N300 hostname'
    for rail in 0 1 2; do
        ok "n300 reaches n1 and n256 by eth$rail" lab on n300 sh -c "ping -c 1 -W 5 $(address n1 $rail) &&
            ping -c 1 -W 5 $(address n256 $rail)"
    done
    is "$(lab run sinfo -h -N -o %N | sort -u | wc -l)" 300 '... all of them registered'
fi
done_testing
