#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A step's hooks never fail: whatever is wrong with muster on a node is in its slurmd.log, the
# environment stays as it is, and the job runs.
. "$(dirname "$0")/spank.sh"

spank_lab_up -n 2

line="required $plugin config=/etc/muster/muster.conf"
# shellcheck disable=SC2016
show='echo "$SLURMD_NODENAME:${RANK-none}"'
run() { lab run srun -N2 "$@" sh -c "$show" 2>"$work/err" | sort | xargs; }

is "$(run)" 'n1:0 n2:1' 'with config=PATH'

conf_add n2 'FabricInterface=eth1'
is "$(run)" 'n1:0 n2:none' 'a muster.conf with a typo: that node sets nothing'
like "$(slurmd_log n2)" 'error: muster: environment left unchanged: /etc/muster/muster\.conf:[0-9]+: ' \
    '... its slurmd.log names file and line'
run --muster-explain >/dev/null
like "$(cat "$work/err")" '^muster: n2: environment left unchanged: /etc/muster/muster\.conf:[0-9]+: ' \
    '... --muster-explain too'

rm "$top/.lab/$name/n2/etc/muster/muster.conf"
is "$(run)" 'n1:0 n2:1' 'no muster.conf at all: the defaults'

plugstack n1 "$line cnofig=/x"
is "$(run)" 'n1:0 n2:1' 'a word in plugstack.conf that muster does not know'
like "$(slurmd_log n1)" 'error: muster: plugstack\.conf: cnofig=/x: expected config=PATH' '... is logged'

for host in head n1 n2; do plugstack $host "$line" "$line"; done
is "$(run)" 'n1:0 n2:1' 'plugstack.conf lists the plugin twice'
like "$(cat "$work/err" && slurmd_log n1)" 'muster: plugin listed twice in plugstack\.conf' '... is logged'

is "$(lab run sinfo -h -t drain,down -o '%N %T')" '' 'no node was drained'

done_testing
