#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A slow rail: the step does not start, the output names node and part, and nobody is drained; in a
# larger allocation the step gives back its resources, and the best nodes are kept.
. "$(dirname "$0")/preflight.sh"

preflight_lab_up
lab fault slow-rail n3 eth1 >/dev/null

run_step srun -N4 --preflight=quick "$work/program"
is "$status $stdout_text" '1 ' 'srun: exit status 1, and no task has started' || show
ok 'n3 and its eth1 are named' named n3 'eth1 .* of 200 Mb/s' || show
is "$(grep -c '^muster preflight: ' "$work/messages")" 1 'and no other node'
like "$messages" 'error: muster: the step does not start: its preflight found a fault; --preflight=off' \
    'with the option that skips it'
is "$(states)" idle 'no node is drained'
like "$(suspect_reports n3)" '^n3: a preflight of job [0-9]+, user 65534, .*: links eth1: eth1 ' \
    'but n3 has a suspect report about itself'

# shellcheck disable=SC2016 # for the script
printf '%s\n' '#!/bin/bash' "export PATH=${muster%/*}:\$PATH" \
    "srun -Q --preflight=quick $work/program && echo started" \
    'nodes=$(muster preflight --keep 3); echo "kept:$?:$nodes"' \
    "timeout 100 srun -Q -N3 --gres=gpu:8 -w \"\$nodes\" $work/program" >"$work/script"
chmod 755 "$work/script"
run_step salloc -Q -N4 --gres=gpu:8 "$work/script"
is "$status $stdout_text" '0 0 1 2 kept:0:n[1-2,4]' \
    'in an allocation it does not start either, gives its GPUs back, and the other three are kept' || show

# of two nodes on one leaf either may be at fault
run_step srun -N2 -w n3,n4 --preflight=quick "$work/program"
is "$status $stdout_text" '1 ' 'two nodes on one leaf: the step does not start' || show
ok 'both ends are named' eval 'named n3 eth1 && named n4 eth1' || show

lab heal >/dev/null
lab fault rail-down n2 eth2 >/dev/null
run_step srun -N4 --preflight=quick "$work/program"
is "$status" 1 'a rail without carrier' || show
ok 'is named' named n2 'rail eth2 is down' || show
ends_clean
done_testing
