# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# testguest.sh - for tests in guests: a directory that both sides see, and commands in a guest. Source
# it instead of tap.sh.
#
#   guest --topology rails sh -c '...'  # tests/rdma/guest with $work shared
#   in_guest NAME                       # the function NAME of this test, run in a guest; its output
#                                       # is in $output, its exit status in $status
#   two_nodes PROGRAM ARGUMENT...       # in a guest: runs an MPI program on two ranks that act as
#                                       # two nodes, n1 with $rails_1 (rxe1), n2 with $rails_2 (rxe2);
#                                       # by shared memory, or by $mpi_options of mpirun
#   links_of_two OPTION...              # ... muster-links
#   needs_slurm                         # skips the test without slurmctld; sets $plugin for slurm.sh
#   $work                               # the shared directory, removed with the test
#   $muster                             # what was built and installed for the cluster's tests

. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
rdma_dir=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export top
top=$(cd -P "$rdma_dir/../.." && pwd)
export prefix=$top/.lab/prefix
export muster=$prefix/bin/muster

[ "$(id -u)" -eq 0 ] || skip_all 'a guest needs root'
[ -x "$muster" ] || bail "$muster is not there: make install, or ./quickstart"
"$rdma_dir/fetch" >/dev/null 2>"/tmp/fetch.$$" || {
    status=$? reason=$(tail -n 1 "/tmp/fetch.$$")
    rm -f "/tmp/fetch.$$"
    [ $status -ne 77 ] || skip_all "$reason"
    bail "$reason"
}
rm -f "/tmp/fetch.$$"
# not below /tmp, of which the nodes of slurm.sh have their own
work=$(mktemp -d -p "$top/.lab") || bail 'no folder to work in'
export work
tap_cleanup() { rm -rf "$work"; }

# Seven retries, UCX's default, never end on soft-RoCE: of two ranks that end together one may then wait
# forever for an acknowledgment by the other's closed connection. These settings end after 4 s.
export UCX_RC_RETRY_COUNT=6 UCX_RC_TIMEOUT=300ms

guest() { "$rdma_dir/guest" --share "$work" "$@"; }

in_guest() { # FUNCTION OPTION-OF-GUEST...
    local name=$1
    shift
    output=$(guest "$@" -- bash -c "$(declare -f); $name" 2>"$work/err")
    status=$?
    # a status of the guest itself, not of the function
    if [ $status -eq 124 ] || [ $status -eq 125 ]; then sed 's/^/# /' "$work/err"; fi
}

needs_slurm() {
    [ -x /usr/sbin/slurmctld ] || skip_all 'slurmctld is not installed'
    export plugin=${MUSTER_PLUGIN:-$prefix/lib/slurm/spank_muster.so} rdma_dir
    [ -e "$plugin" ] || skip_all "no $plugin (make install, or MUSTER_PLUGIN)"
}

# Prints the guest's output between the line "== NAME" and the next such line.
section() { # NAME
    awk -v name="== $1" '/^== / { on = $0 == name; next } on' <<<"$output"
}

# shellcheck disable=SC2016,SC2086
two_nodes() { # PROGRAM ARGUMENT...
    printf 'FabricInterfaces=%s\n%s\n' "${rails_1:-rxe1}" "${conf_1-}" >/run/muster1.conf
    printf 'FabricInterfaces=%s\n%s\n' "${rails_2:-rxe2}" "${conf_2-}" >/run/muster2.conf
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 MUSTER_ALLOW_ROOT=1 \
        timeout "${links_limit_s:-250}" mpirun --oversubscribe --mca mpi_yield_when_idle 1 \
        ${mpi_options:---mca pml ob1 --mca btl self,vader} -np 2 \
        sh -c 'n=$((OMPI_COMM_WORLD_RANK + 1))
            export MUSTER_CONF=/run/muster$n.conf n
            exec unshare --uts sh -c '"'"'hostname n$n
                exec nice -n 19 "$@"'"'"' sh "$@"' sh "$@"
}

links_of_two() { # OPTION-OF-MUSTER-LINKS...
    two_nodes "$prefix/bin/muster-links" --time-limit=240 "$@"
}

# Checks the records of the section against doc/records.md.
records_are_in_schema() { # SECTION DESCRIPTION
    local record_check=$top/.lab/build/tests/record-check
    if [ -x "$record_check" ]; then
        section "$1" | grep '^{' >"$work/records"
        ok "$2" schema_holds
    else
        skip 1 'record-check is not built'
    fi
}

schema_holds() { "$top/.lab/build/tests/record-check" "$top/doc/records.md" <"$work/records"; }
