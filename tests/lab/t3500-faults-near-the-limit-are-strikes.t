#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A rail that is a little slower than its peers makes its node a suspect, which stays in service with
# its certificate; the second time it is drained.
. "$(dirname "$0")/certify.sh"

# The absolute floor is 100 Mb/s; 85 % of the peers are some 165.
conf_add head LinkNominalPercent=50% Strikes=2
lab fault slow-rail n3 eth1 130 >/dev/null
certify --dry-run
is "$status" 1 'a dry run' || show
like "$output" 'n3 is a suspect: links eth1 1[1-3][0-9] of .*, strike 1 of 2 within 24 h' 'reports the strike'
certify
is "$status $(verdicts)" '1 n1 pass n2 pass n3 fail n4 pass' 'the slower node is not certified' || show
like "$output" '^n3 +suspect ' 'but a suspect'
like "$output" 'strike 1 of 2' 'the dry run has not counted'
is "$(states)" 'n1 idle n2 idle n3 idle n4 idle' 'and stays in service'
valid 'its records are valid'
certify --suspects
like "$output" '^n3: links eth1 .*, strike 1 of 2' '--suspects tests this node'
is "$status $(verdicts | grep -o 'n3 [a-z]*')" '1 n3 fail' 'and it fails again' || show
is "$(states | grep -o '[a-z0-9]* drained')" 'n3 drained' 'the second time it is drained'
like "$(reason n3)" '^muster: rail_slow eth1 1[1-3][0-9] of ' 'for its slow rail'
certify --suspects
is "$status $(grep -c '^no suspects' "$work/output")" '0 1' 'and is no longer suspect' || show
ok 'nothing is left' within 60 nothing_left
done_testing
