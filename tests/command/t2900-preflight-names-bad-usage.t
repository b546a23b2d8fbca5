#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster preflight without a job: help, and one clear line for what it cannot do.
set -u
top_srcdir=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
muster=${top_builddir:-.}/muster
. "$top_srcdir/tests/tap.sh"

[ -x "$muster" ] || skip_all 'the muster command is not built'
unset MUSTER_CONF SLURM_JOB_ID SLURM_JOBID

refused() { # LINE OPTION...
    local line=$1
    shift
    text=$("$muster" preflight "$@" 2>&1 </dev/null)
    is "$?" 2 "preflight $*: a usage error"
    is "$(head -n 1 <<<"$text")" "muster preflight: $line" '... in one clear line'
}

help=$("$muster" preflight --help)
is "$?" 0 'preflight --help succeeds'
sed 's/\\-/-/g' "$top_srcdir/doc/muster.1.in" | sed -n '/^.SH MUSTER PREFLIGHT/,/^.SH MUSTER REVOKE/p' >page.$$
tap_cleanup() { rm -f page.$$; }
while read -r option; do
    ok "... the manual page knows $option" grep -qF -- "$option" page.$$
done < <(grep -o -- '--[a-z]*' <<<"$(grep '^ ' <<<"$help")" | grep -v -- --help | sort -u)

refused "not inside a job: run it in salloc, sbatch or srun --pty, or use srun --preflight"
refused "keep is '0', expected a number of nodes" --keep 0
refused "keep is 'all', expected a number of nodes" --keep=all
refused "level is 'off', expected quick or standard" --level=off
refused "budget is '1', expected seconds from 5 to 3600" --budget=1
refused "budget is 'nan', expected seconds from 5 to 3600" --budget=nan
refused '"n[1" has a [ without a ]' -w 'n[1'
refused "option '-w' is given nothing, expected a value" -w ''
refused "step is '12', expected JOB.STEP" --step=12
refused "step is '0.1', expected JOB.STEP" --step=0.1
refused "step is '12.x', expected JOB.STEP" --step=12.x
refused '--step names its nodes itself: neither -w nor --keep goes with it' --step=12.0 --keep 2
refused "what is 'n1'? Nodes are named with -w" n1
refused "/no/such: no such file" --config /no/such
done_testing
