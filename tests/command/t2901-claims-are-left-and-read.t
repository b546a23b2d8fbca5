#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster claim: what is left for this node is listed, as records too, and removed.
set -u
top_srcdir=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
muster=${top_builddir:-.}/muster
. "$top_srcdir/tests/tap.sh"

[ -x "$muster" ] || skip_all 'the muster command is not built'
work=$(mktemp -d)
tap_cleanup() { rm -rf "$work"; }
claim() { "$muster" claim -d "$work" -n n1 "$@" 2>&1; }

is "$(claim)" 'no claims' 'an empty directory'
printf '%s\t%s\t12\tlinks\teth1\teth1 sends 49 of 200 Mb/s\n' n1 n1 n2 n2 n1 n3 |
    claim --leave
is "$?" 0 'claims are left'
is "$(claim | cut -d: -f1 | sort | xargs)" 'n1 n3' 'those that are for this node'
like "$(claim)" "^n1: a preflight of job 12, user $(id -u), .*: links eth1: eth1 sends 49 of 200 Mb/s$" \
    'are listed with job, user and part'
like "$(claim --json)" '"suite":"claim","test":"preflight.claims","node":"n3","part":"eth1","peer":"n1"' \
    'and as records: whom it is about, and who keeps it'
printf 'n1\t../../n3\t12\tlinks\teth1\tx\nno line of a claim\n' | claim --leave >"$work/said"
is "$?" 1 'a claim about no name of a node fails'
is "$(cat "$work/said")" "muster claim: n1: '../../n3' is no name of a node
muster claim: n1: standard input, line 2: found no claim" '... in one clear line, and so does what is none'
long=$(printf 'x%.0s' {1..64})
printf 'n1\t%s\t%s\tlinks\teth1\tx\n' n5 0 n5 1x n5 4294967296 "$long" 12 | claim --leave >"$work/said"
is "$? $(grep -c 'found no claim' "$work/said")" '1 4' 'nor is one without a job, or with too long a name'
(
    for ((i = 0; i < 300; i++)); do printf 'n2\tn1\t12\tlinks\teth1\tx\n'; done
    printf 'n1\tn6\t12\tlinks\teth1\t%s\n' "$(printf 'x%.0s' {1..2000})"
    printf 'n1\tn7\t12\tlinks\teth1\tx\n'
) | claim --leave
is "$?" 0 'many lines for other nodes, and a long one'
is "$(claim | grep -c -E '^n[67]:')" 2 '... hide none of those behind them'
claim --remove 'n[6-7]' >/dev/null
is "$(echo 'n[3-4]' | claim --remove -)" '1 claim removed' 'those about some nodes are removed'
is "$(claim | cut -d: -f1)" n1 'the others stay'
text=$(claim --leave --remove n1)
is "$?" 2 '--leave and --remove together are a usage error'
text=$(claim word)
is "$?" 2 'so is a word'
text=$("$muster" claim -d /dev/null -n n1 2>&1)
is "$? $text" '1 muster claim: n1: /dev/null: Not a directory' 'what is no directory is named'
done_testing
