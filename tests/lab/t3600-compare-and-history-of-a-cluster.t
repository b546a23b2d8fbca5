#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster compare asks the nodes of a real cluster and names the one that differs, by majority and
# against a golden file; muster history tells what changed between two certifications.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/testlab.sh"
. "$(dirname "$0")/certify.sh"

compare() {
    status=0
    words=$(lab run "$muster" compare "$@" 2>&1 </dev/null) || status=$?
}

compare
is "$status" 0 'four equal nodes' || diag "$words"
like "$words" '^4 nodes, [0-9]+ facts, 1 group$' '... were all asked'
unlike "$words" '^fail' '... and differ in nothing that breaks jobs'
ok '--save-golden writes what they are' lab run "$muster" compare --save-golden "$work/golden"

lab fault wrong-mtu n3 eth1 1400 >/dev/null
compare
is "$status" 1 'another MTU is found'
like "$words" '^fail +n3 +eth1 +mtu +1400 +[0-9]+ \(3 of 4\) ' '... on its node' || diag "$words"
compare -w n3 --golden "$work/golden"
is "$status" 1 'a node alone is held against the golden file'
like "$words" '^fail +n3 +eth1 +mtu +1400 +[0-9]+ \(golden:[0-9]+\)' '... which names the line'
lab run scontrol update nodename=n4 state=drain reason=elsewhere
compare -w 'n[1-5]' --json
is "$status" 1 'what cannot be asked is no reason not to tell the rest'
like "$words" 'n4: not asked, it is drain' '... a drained node is named'
like "$words" 'n5: there is no such node' '... and one that is not there'

lab heal >/dev/null
lab run scontrol update nodename=n4 state=resume
certify --no-drain --level quick -w 'n[1-3]'
is "$(verdicts)" 'n1 pass n2 pass n3 pass' 'three nodes are certified' || diag "$words"
lab fault slow-rail n2 eth1 >/dev/null
certify --no-drain --level quick -w 'n[1-3]'
is "$(verdicts)" 'n1 pass n2 fail n3 pass' 'one of them gets slow' || diag "$words"
history() { lab run "$muster" history "$@"; }
text=$(history n2)
like "$text" '^n2 +eth1 +bandwidth .* worse since [-0-9]+ [0-9:]+, [0-9.]+ before$' \
    'the history says since when, and what it reached before' || diag "$text"
text=$(history --diff previous last)
like "$text" '^n2 +certified +FAILED +eth1 ' '--diff has the verdict' || diag "$text"
like "$text" '^n2 +eth1 +bandwidth .* -[0-9]+ %$' '... and the figure'
unlike "$text" '^n1 .*(kernel|firmware|driver)' '... and no fact that is as it was'
done_testing
