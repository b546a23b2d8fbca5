# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # $muster, $make and $dir are the test's
#
# judging.sh - for tests that hold muster topology --fabric against injected faults. Source after
# tap.sh; $muster, $make (make-subnet) and $dir, a folder, are the test's.
#
#   subnet OPTION...      of make-subnet: $dir/net, its links with rates as ibnetdiscover prints
#                         them, and $dir/conf, its topology.conf
#   judge OPTION...       of muster, of the recorded subnet; $text, $status, $findings and $dir/err
#   sound SHAPE           a subnet of which nothing is said; it stays $shape
#   fault FAULT SENTENCE  $shape with that fault: one finding, which begins with that
#
# live.sh has the same of a subnet that runs.

subnet() {
    python3 "$make" "$@" >"$dir/raw" && python3 "$make" "$@" --conf >"$dir/conf" ||
        bail 'the subnet cannot be made'
    sed 's/ w=3 s=7 e=7$/\t# "x" lid 1 4xHDR/; s/ w=1 s=7 e=7$/\t# "x" lid 1 1xHDR/; s/ w=3 s=7 e=3$/\t# "x" lid 1 4xEDR/' \
        "$dir/raw" >"$dir/net"
}

judge() {
    text=$("$muster" topology --fabric --from "$dir/net" "$@" 2>"$dir/err")
    status=$?
    findings=$(grep -E '^(fail|warn) ' <<<"$text")
}

sound() {
    shape=$1
    # shellcheck disable=SC2086
    subnet $shape
    judge -t "$dir/conf"
    is "$status $findings" '0 ' "a sound network, $shape" || diag "$text" "$(<"$dir/err")"
    judge
    is "$status $findings" '0 ' '... and without topology.conf' || diag "$text" "$(<"$dir/err")"
}

fault() {
    local expected=1
    [[ $2 == fail* ]] || expected=0
    # shellcheck disable=SC2086
    subnet $shape --fault "$1"
    judge -t "$dir/conf"
    is "$status $(grep -c . <<<"$findings")" "$expected 1" "one finding: $1"
    like "$findings" "^$2" '... says what, where and what to do' || diag "$text" "$(<"$dir/err")"
}
