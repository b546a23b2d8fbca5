#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A rank of a chain passes the first segment on while the next ones come: three links one after
# another take little longer than one. Whole messages would take three times as long; a busy machine adds to either.
. "$(dirname "$0")/testlab.sh"

[ "$release" = bookworm ] || skip_all "what is built is for the machine's own MPI"
for program in "$top/.lab/build/tests/command/chain" "$top/tests/command/chain"; do
    [ ! -x "$program" ] || break
done
[ -x "$program" ] || skip_all 'built without MPI'
program=$(realpath "$program")
is_sanitized "$program" && skip_all 'a sanitized program has less time for its messages'
lab_up -n 4

is_one_way() { awk -v ratio="$ratio" 'BEGIN { exit !(ratio > 0.9 && ratio < 2) }'; }
for _ in 1 2 3; do
    ratio=$(timeout 200 "$lab_dir/lab" -L "$name" run env OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp \
        OMPI_MCA_btl_tcp_if_include=eth1 OMPI_MCA_mpi_yield_when_idle=1 \
        srun -N4 --ntasks-per-node=1 --mpi=pmix "$program")
    status=$?
    ! is_one_way || break
done
is "$status" 0 'a broadcast of 1 MiB over rails of 200 Mb/s'
ok "... by a chain of four takes $ratio times as long as to one" is_one_way
done_testing
