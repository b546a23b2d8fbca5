#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The shell of a salloc that Slurm starts on the first node (LaunchParameters=use_interactive_step) gets
# no variable of muster; a step from within it does, by the options that salloc was given.
. "$(dirname "$0")/spank.sh"

spank_lab_up -n 2
slurm_conf_add LaunchParameters=use_interactive_step
# the shell reads its commands from a terminal, which is where its own output goes as well
cat >"$work/commands" <<END
hostname >$work/shell; env | grep -cE '^($muster_names)=' >>$work/shell
srun --input=none -n2 -N2 sh -c 'echo \$RANK \$UCX_NET_DEVICES' | sort >$work/step
exit
END
# salloc starts $SHELL, which not every caller has
lab run env SHELL=/bin/bash timeout 100 script -qec "salloc -Q -N2 --muster-explain" /dev/null <"$work/commands" >"$work/said" 2>&1
is "$(xargs <"$work/shell")" 'n1 0' 'the shell is on the first node and has no variable of muster'"'"'s' ||
    sed 's/^/# /' "$work/said" >&2
is "$(cat "$work/step")" '0 eth1,eth2
1 eth1,eth2' 'a step from within it has them'
is "$(grep -c 'muster: n[12]: RANK=' "$work/said")" 2 "salloc's options hold for the step, and not for the shell" ||
    sed 's/^/# /' "$work/said" >&2
ok 'nothing is left' within 60 no_jobs
done_testing
