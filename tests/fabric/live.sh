# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # $subnet_dir, $muster: as in judging.sh and ibsim.sh
#
# live.sh - judging.sh for subnets that ibsim simulates under a real subnet manager. Source after tap.sh; skips
# the test if these are not installed. Sets $top, $muster, $make and $dir.
#
#   sound SHAPE NODES LEAVES  ... and compares it with what ibnetdiscover finds

top=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=ibsim.sh
. "$top/tests/fabric/ibsim.sh"
# shellcheck source=judging.sh
. "$top/tests/fabric/judging.sh"

muster=$top/.lab/prefix/bin/muster
make=$top/tests/fabric/make-subnet
[ -x "$muster" ] || bail "$muster is not there: make install, or ./quickstart"
"$muster" topology --fabric 2>&1 | grep -q 'built without libibnetdisc' &&
    skip_all 'muster was built without libibnetdisc'
reason=$(subnet_missing) && skip_all "$reason"
subnet_missing >/dev/null
subnet_dir=$(mktemp -d) || bail 'no folder to work in'
dir=$subnet_dir
tap_cleanup() {
    subnet_down
    rm -rf "$dir"
}

subnet() {
    python3 "$make" "$@" >"$dir/net" && python3 "$make" "$@" --conf >"$dir/conf" ||
        bail 'the subnet cannot be made'
    subnet_down
    subnet_up "$dir/net" || bail 'ibsim or opensm does not start'
}

judge() {
    text=$(subnet_run "$muster" topology --fabric "$@" 2>"$dir/err")
    status=$?
    findings=$(grep -E '^(fail|warn) ' <<<"$text")
}

sound() { # SHAPE NODES LEAVES
    shape=$1
    # shellcheck disable=SC2086
    subnet $shape
    judge -t "$dir/conf"
    is "$status $findings" '0 ' "$2 nodes, $shape: nothing is wrong" || diag "$text $(<"$dir/err")"
    subnet_run ibnetdiscover >"$dir/discovered"
    is "$(grep -c ' 0x[0-9a-f]* ' <<<"$text")" "$(grep -c ^Switch "$dir/discovered")" '... as many switches as ibnetdiscover finds'
    is "$(sed -n 's/^nodes *\([0-9]*\),.*/\1/p' <<<"$text")" \
        "$(sed -n 's/^Ca.*# "\([^ ]*\) .*/\1/p' "$dir/discovered" | sort -u | wc -l)" '... as many nodes'
    is "$(sed -n 's/^[^ ]* *0x\([0-9a-f]*\) .* \(n[^ ]*\)$/\1 \2/p' <<<"$text" | grep -c '')" "$3" '... the leaves with nodes'
    # muster reads the same from ibnetdiscover's own file
    is "$("$muster" topology --fabric --from "$dir/discovered" -t "$dir/conf" | sed 1d)" \
        "$(sed 1d <<<"$text")" "... the same from ibnetdiscover's file"
}

# Checks that iblinkinfo has one link, with two ends, at that width and speed.
linkinfo_has() { # WIDTH SPEED
    is "$(subnet_run iblinkinfo | grep -c "( *$1 *$2 Gbps")" 2 "... iblinkinfo has one link at $1 $2 Gb/s"
}
