#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Bad input gets one line that names it and exit status 2; a lab that is down says so.
. "$(dirname "$0")/testlab.sh"

refused() { # PATTERN ARG...
    local pattern=$1 output status=0
    shift
    output=$(lab "$@" 2>&1) || status=$?
    is "$status:$(wc -l <<<"$output")" 2:1 "lab $*: exit status 2, one line"
    like "$output" "$pattern" "lab $*: $pattern"
}

refused 'what to do'
refused "no command 'fly'" fly
refused "does not know '-x'" up -x
refused 'needs a value' up -n
refused "number of nodes is 'x'" up -n x
refused 'from 1 to 512' up -n 513
refused '3 nodes, but 2 names' up -n 3 --names a,b
refused "'n\[1-2\]' is no name of a node" up --names 'n[1-2]'
refused "speed of a rail is '0'" up --rail-mbps 0
refused 'no plugin /none' up --plugin /none
refused 'no fault' fault melt n1
refused 'which fault' fault
refused 'run what' run
refused 'usage: lab on' on n1
refused "down takes no 'n1'" down n1
name=prefix refused "cannot be a lab's name" status
name='../x' refused "cannot be a lab's name" status

told() { # LINE COMMAND...
    status=0
    output=$("${@:2}" 2>&1) || status=$?
    is "$status:$(wc -l <<<"$output")" 2:1 "${*:2}: exit status 2, one line"
    like "$output" "^$1" '... that names it'
}
told "run: unknown option '--bogus'" "$top/tests/run" --bogus
told 'run: no test of a cluster is called t99' "$top/tests/run" t18 t99
told "run: --release takes trixie or unstable, not 'sid'" "$top/tests/run" --release sid
told "run: --fast and --coverage take no tests of clusters, not 't18'" "$top/tests/run" --fast t18
for both in '--fast --release trixie' '--coverage --release trixie' '--fast --all' '--fast --long'; do
    # shellcheck disable=SC2086 # several words
    told "run: --[a-z]* and --[a-z]* are mutually exclusive" "$top/tests/run" $both
done
told "quickstart: unknown option '--tset'" "$top/quickstart" --tset
told "quickstart: unexpected argument 'lab'" "$top/quickstart" --down lab

for command in '' up run on fault heal status down; do
    # shellcheck disable=SC2086 # no command is no word
    like "$(lab $command --help)" "^usage: lab .*$command" "lab $command --help"
done

status=0
output=$(lab run true 2>&1) || status=$?
is "$status" 125 'run in a lab that is down: 125'
like "$output" "lab $name is down; start it" 'and says how to start it'
not_ok 'status of a lab that is down' lab status
ok 'down of a lab that is down' lab down
ok 'and none of these creates its directory' test ! -e "$top/.lab/$name"
done_testing
