# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # $muster, $make and $dir are the test's
#
# judging.sh - for tests that check muster topology --fabric with injected faults. Source after
# tap.sh; $muster, $make (make-subnet) and $dir, a folder, are the test's.
#
#   subnet OPTION...      makes a subnet by make-subnet: $dir/net, with the rates of links as
#                         ibnetdiscover prints them, and $dir/conf, its topology.conf
#   judge OPTION...       runs muster on the recorded subnet: $text, $status, $findings and $dir/err
#   sound SHAPE           checks that a subnet has no finding, and keeps it as $shape
#   fault FAULT SENTENCE  checks that $shape with FAULT has one finding, which begins with SENTENCE
#
# live.sh has the same functions for a running subnet.

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
    like "$findings" "^$2" '... that says what, where and what to do' || diag "$text" "$(<"$dir/err")"
}
