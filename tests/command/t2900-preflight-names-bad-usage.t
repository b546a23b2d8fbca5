#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster preflight without a job: help, and one clear line for bad usage.
. "$(dirname "$0")/command.sh"
needs muster

refused() { # LINE OPTION...
    local line=$1
    shift
    text=$("$muster" preflight "$@" 2>&1 </dev/null)
    is "$?" 2 "preflight $*: a usage error"
    is "$(head -n 1 <<<"$text")" "muster preflight: $line" '... in one clear line'
}

"$muster" preflight --help >/dev/null
is "$?" 0 'preflight --help succeeds'

refused "not inside a job: run it in salloc, sbatch or srun --pty, or use srun --preflight"
refused 'option --keep: expected a number from 1 to 65536, found "0"' --keep 0
refused 'option --keep: expected a number from 1 to 65536, found "all"' --keep=all
refused 'option --level: expected quick or standard, found "off"' --level=off
refused 'option --budget: expected seconds from 5 to 3600, found "1"' --budget=1
refused 'option --budget: expected seconds from 5 to 3600, found "nan"' --budget=nan
refused 'option --nodes: "n[1" has a [ without a ]' -w 'n[1'
refused 'option --nodes needs an argument, LIST' -w ''
refused 'option --step: expected JOB.STEP, found "12"' --step=12
refused 'option --step: expected JOB.STEP, found "0.1"' --step=0.1
refused 'option --step: expected JOB.STEP, found "12.x"' --step=12.x
refused '--step cannot be combined with -w or --keep' --step=12.0 --keep 2
refused 'unexpected argument "n1"; name nodes with -w' n1
refused "/no/such: no such file" --config /no/such
done_testing
