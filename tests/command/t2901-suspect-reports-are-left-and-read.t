#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster suspects: lists suspect reports for this node, also as records, and removes them.
. "$(dirname "$0")/command.sh"
needs muster

suspects() { "$muster" suspects -d "$dir" -n n1 "$@" 2>&1; }

is "$(suspects)" 'no suspect reports' 'an empty directory'
printf '%s\t%s\t12\tlinks\teth1\teth1 sends 49 of 200 Mb/s\n' n1 n1 n2 n2 n1 n3 |
    suspects --leave
is "$?" 0 'suspect reports are left'
is "$(suspects | cut -d: -f1 | sort | xargs)" 'n1 n3' 'reports for this node'
like "$(suspects)" "^n1: a preflight of job 12, user $(id -u), .*: links eth1: eth1 sends 49 of 200 Mb/s$" \
    'are listed with job, user and part'
like "$(suspects --json)" '"suite":"suspects","test":"preflight.suspects","node":"n3","part":"eth1","peer":"n1"' \
    '--json has the suspect and the node that keeps the report'
printf 'n1\t../../n3\t12\tlinks\teth1\tx\nno line of a suspect report\n' | suspects --leave >"$dir/said"
is "$?" 1 'a report about an invalid node name fails'
is "$(cat "$dir/said")" "muster suspects: n1: '../../n3' is not a node name
muster suspects: n1: standard input, line 2: not a suspect report" '... in one clear line, and so does a line that is not a report'
long=$(printf 'x%.0s' {1..64})
printf 'n1\t%s\t%s\tlinks\teth1\tx\n' n5 0 n5 1x n5 4294967296 "$long" 12 | suspects --leave >"$dir/said"
is "$? $(grep -c 'not a suspect report' "$dir/said")" '1 4' 'lines without a job, or with too long a name, are not reports'
(
    for ((i = 0; i < 300; i++)); do printf 'n2\tn1\t12\tlinks\teth1\tx\n'; done
    printf 'n1\tn6\t12\tlinks\teth1\t%s\n' "$(printf 'x%.0s' {1..2000})"
    printf 'n1\tn7\t12\tlinks\teth1\tx\n'
) | suspects --leave
is "$?" 0 'many lines for other nodes, and a long line'
is "$(suspects | grep -c -E '^n[67]:')" 2 '... do not hide the reports after them'
suspects --remove 'n[6-7]' >/dev/null
is "$(echo 'n[3-4]' | suspects --remove -)" '1 suspect report removed' '--remove removes the reports about some nodes'
is "$(suspects | cut -d: -f1)" n1 'other reports stay'
text=$(suspects --leave <"$dir")
is "$? $text" '1 muster suspects: n1: standard input: Is a directory' 'reports that cannot be read are not done'
text=$(suspects --leave --remove n1)
is "$?" 2 '--leave and --remove together are a usage error'
text=$(suspects word)
is "$?" 2 'so is an extra argument'
text=$("$muster" suspects -d /dev/null -n n1 2>&1)
is "$? $text" '1 muster suspects: n1: /dev/null: Not a directory' 'a path that is not a directory is named'
for option in '' '--remove n1' --leave; do
    # shellcheck disable=SC2086 # no option is no word
    text=$("$muster" suspects -d "$dir/gone" -n n1 $option 2>&1 </dev/null)
    is "$? $text" "1 muster suspects: n1: $dir/gone: No such file or directory" "so is one that is missing ($option)"
done
done_testing
