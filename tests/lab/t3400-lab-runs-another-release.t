#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# With --release the nodes run another Debian: its Slurm, its libraries, its users. Of the machine they
# have only the kernel, the source tree and names. MUSTER_LAB_RELEASE selects the release.
MUSTER_LAB_RELEASE=${MUSTER_LAB_RELEASE:-trixie}
. "$(dirname "$0")/testlab.sh"

[ "$release" != bookworm ] || skip_all "bookworm is the machine's own release"
root_now() { "$lab_dir/root" --path "$release"; }

# the program root
is "$("$lab_dir/root" sid 2>&1)" "root: the release is trixie or unstable, not 'sid', see root --help" \
    'an unknown release is refused'
is "$("$lab_dir/root" "$release" 2>/dev/null)" "$top/.lab/roots/$release" 'the root is made'
is "$(root_now)" "$top/.lab/roots/$release" '... and is not made twice'
lab_up -n 2 --release "$release"
like "$(lab status)" "^root: $top/.lab/roots/$release\$" 'status names the root'
got=$(lab up --release bookworm 2>&1)
like "$got" "is up with Debian $release, not bookworm; take it down first" \
    'up with another release is refused'

case $release in
trixie) version='24\.11\.' ;;
*) version='2[6-9]\.[0-9]+\.' ;;
esac
like "$(lab run srun --version)" "^slurm-wlm $version" 'srun is of that release'
like "$(cat "$top/.lab/$name/n1/var/log/slurm/slurmd.log")" \
    "slurmd version $version" '... slurmd too'
is "$(lab run srun -N2 hostname | sort | xargs)" 'n1 n2' 'srun -N2 hostname'
lab run sbatch -Q -W -N2 -o "$work/out" --wrap 'srun hostname'
is "$(sort "$work/out" | xargs)" 'n1 n2' 'sbatch'
is "$(lab run salloc -Q -N2 srun hostname | sort | xargs)" 'n1 n2' 'salloc'
# shellcheck disable=SC2016
is "$(lab run srun -N1 --gres=gpu:2 sh -c \
    'for gpu in 0 1 2 7; do (: </dev/gpu$gpu) 2>/dev/null && echo $gpu; done' | xargs)" '0 1' \
    'cgroups deny the GPUs that were not requested'

# files that a node writes stay on the node
lab on n1 touch /etc/here /usr/here /var/here
not_ok 'a file of n1 is not seen by n2' lab on n2 ls /etc/here /usr/here /var/here
not_ok '... and does not reach the root' ls "$(root_now)"/{etc,usr,var}/here
is "$(lab on n1 stat -c %U /var/lib/munge)" munge "MUNGE's user is that of the root"

# MPI, if Debian has built this Slurm with PMIx
if compgen -G "$(root_now)/usr/lib/*/slurm-wlm/mpi_pmix.so" >/dev/null; then
    cat >"$work/ranks.c" <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum %d\n", sum);
    MPI_Finalize();
    return 0;
}
END
    ok 'an MPI program is built there' lab run mpicc -o "$work/ranks" "$work/ranks.c"
    is "$(lab run srun --mpi=pmix -N2 --ntasks-per-node=2 "$work/ranks" 2>"$work/err")" 'sum 6' \
        '... and runs under srun' || sed 's/^/# /' "$work/err"
else
    skip 2 "Debian's Slurm $release is built without PMIx"
fi
lab down >/dev/null
not_ok 'down leaves no state' test -e "$top/.lab/$name"
is "$(findmnt -rn -o TARGET | grep -c "/roots/\|/$name/")" 0 '... and no mount'
done_testing
