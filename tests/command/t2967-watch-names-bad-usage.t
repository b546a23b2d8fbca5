#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster watch without a cluster: one clear line for bad usage; the output of the step on a node.
. "$(dirname "$0")/command.sh"
needs muster

refused() { # LINE OPTION...
    text=$("$muster" watch "${@:2}" 2>&1 </dev/null)
    is "$? $(head -n 1 <<<"$text")" "2 muster watch: $1" "watch ${*:2}: a usage error in one clear line"
}
refused 'no job given'
refused 'expected a job ID, found "x"' x
refused 'expected a job ID, found "12.0"' 12.0
refused 'expected a job ID, found "0"' 0
refused 'expected a job ID, found "99999999999"' 99999999999
refused 'option --interval: expected seconds from 0.5 to 60, found "0"' --interval=0 1

# a process of a rank is found among the processes of this machine, until it has ended
SLURM_JOB_ID=987654 SLURM_STEP_ID=4 SLURM_PROCID=7 sleep 600 >/dev/null 2>&1 3>&- &
rank=$!
SLURM_JOB_ID=987654 SLURM_STEP_ID=5 SLURM_PROCID=8 sleep 600 >/dev/null 2>&1 3>&- &
own=$!
tap_cleanup() {
    kill "$rank" "$own" 2>/dev/null
    rm -r "$dir"
}
sample() { SLURM_STEP_ID=5 SLURMD_NODENAME=n7 "$muster" watch --samples 987654 </dev/null 2>&1; }
within 60 grep -qz '^SLURM_PROCID=7$' "/proc/$rank/environ" # after exec
within 60 grep -qz '^SLURM_PROCID=8$' "/proc/$own/environ"
line=$(sample)
is "$? ${line%% [0-9]*}" '0 muster-watch n7' 'a sample is printed, until standard input ends'
like "$line" " r,4,7,$rank,[A-Z]," '... with the rank'
is "$(grep -c ',8,' <<<"$(grep -o ' r,[^ ]*' <<<"$line")")" 0 '... but no process of the watch itself'
kill "$rank"
wait "$rank" 2>/dev/null
is "$(grep -o ' r,[^ ]*' <<<"$(sample)")" '' 'a rank that has ended is not listed'
done_testing
