# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# testguest.sh - for tests in guests: a folder both sides see, and the guest's command. Source after
# tap.sh.
#
#   guest --topology rails sh -c '...'  # tests/rdma/guest with $work shared
#   in_guest NAME                       # the function NAME of this test, run in a guest; its output
#                                       # is in $output, its exit status in $status
#   $work                               # written through, gone with the test
#   $muster                             # what was built and installed for the cluster's tests

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
work=$(mktemp -d) || bail 'no folder to work in'
export work
tap_cleanup() { rm -rf "$work"; }

guest() { "$rdma_dir/guest" --share "$work" "$@"; }

in_guest() { # FUNCTION OPTION-OF-GUEST...
    local name=$1
    shift
    output=$(guest "$@" -- bash -c "$(declare -f); $name" 2>"$work/err")
    status=$?
}

# What the guest printed between a line "== NAME" and the next of these.
section() { # NAME
    awk -v name="== $1" '/^== / { on = $0 == name; next } on' <<<"$output"
}
