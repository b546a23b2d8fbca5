# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # what is set here is looked at in the tests
#
# preflight.sh - for lab tests of preflights: a lab of four nodes whose plugin starts the muster of
# the release's prefix, or the one that MUSTER names. Instead of spank.sh:
#
#   preflight_lab_up [LAB-OPTION...]
#   run_step COMMAND...                 # runs it as a user on the head: $status, standard output in
#                                       # $stdout_text, standard error in $messages
#   named n3 eth1                       # whether $messages name that node and part
#   steps_left                          # the steps of muster that slurmctld knows
#   ends_clean                          # a check: no such step is left, and all nodes are idle

. "$(dirname "${BASH_SOURCE[0]}")/spank.sh"
muster_find
[ -x "${muster%/*}/muster-preflight" ] || skip_all "the battery is not beside $muster"

preflight_lab_up() { # LAB-OPTION...
    local host
    spank_lab_up -n 4 "$@"
    conf_add head PreflightBudget=60 # a busy machine takes 20 s, an idle one 3 s
    for host in head n1 n2 n3 n4; do
        plugstack $host "required $plugin config=/etc/muster/muster.conf program=$muster"
    done
    printf '#!/bin/sh\necho "$SLURM_PROCID"\n' >"$work/program"
    chmod 755 "$work" "$work/program"
}

run_step() {
    status=0
    stdout_text=$(as_user timeout 300 "$@" 2>"$work/messages" </dev/null | sort | xargs
        exit "${PIPESTATUS[0]}") || status=$?
    messages=$(cat "$work/messages")
}

named() { # NODE PART
    grep -qE "^muster preflight: $1: .*$2" <<<"$messages"
}

show() { sed 's/^/# /' "$work/messages" >&2; }
steps_left() { lab run squeue -h -s -o '%i %j' | grep muster; }
states() { sinfo_nodes -o '%T' | sort -u | xargs; }
# slurmctld may learn of a step's end a moment after its srun has ended.
steps_and_states() { echo "$(steps_left) $(states)"; }
ends_clean() { is_within 60 ' idle' 'nothing is left' steps_and_states; }
suspect_reports() { lab on "$1" "$muster" suspects; } # NODE
