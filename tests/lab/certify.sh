# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # tests look at what is set, and set lab_options
#
# certify.sh - for lab tests of muster certify: a lab of four nodes, and functions that run muster
# certify and examine its results. Instead of testlab.sh:
#
#   lab_options=(--backup-controller)  # more for lab up, if any
#   . "$(dirname "$0")/certify.sh"
#   certify [OPTION...]                 # runs it: $status, output in $work/output, records in
#                                       # $work/records
#   certify_until PATTERN [OPTION...]   # runs it in the background ($pid); returns once its output has
#                                       # PATTERN
#   certify_settled [OPTION...]         # of nodes that must pass: runs it again if is_unsettled
#   is_unsettled                        # whether a node is unknown, as when the machine was busy with
#                                       # something else; shows the output if so
#   verdicts                            # "n1 pass n2 fail n3 pass n4 pass"
#   valid NAME                          # a check: all records are as doc/records.md says
#   failures_of n2                       # "TEST PART: MESSAGE" of each failing verdict about n2
#   states                              # "n1 idle n2 drained n3 idle n4 idle"
#   reason n2                           # the reason of its drain
#   low_figures                         # links that were slow in $work/records
#   nothing_left                        # no job, reservation, journal or process of a run

. "$(dirname "${BASH_SOURCE[0]}")/testlab.sh"
muster_find
[ -x "${muster%/*}/muster-collectives" ] || skip_all "the battery is not beside $muster"
command -v jq >/dev/null || skip_all 'no jq here'

record_check_find
lab_up -n 4 "${lab_options[@]}"
# measures all pairs once, to save time; campaign-faults covers intermittent faults
conf_add head LinkTimes=1

valid() { # NAME: every record is as doc/records.md says
    if [ -n "$record_check" ]; then
        ok "$1" check_records
    else
        ok "$1" sh -c "jq -c 'select(.suite and .test and .time and .run)' '$work/records' |
            wc -l | grep -qx '$(wc -l <"$work/records")'"
    fi
}

certify() {
    status=0
    lab run "$muster" certify --json "$work/records" "$@" >"$work/output" 2>&1 </dev/null ||
        status=$?
    output=$(cat "$work/output")
}

certify_until() { # PATTERN [OPTION...]
    rm -f "$work/output" # left by the run before
    certify "${@:2}" &
    pid=$!
    within 200 grep -q "$1" "$work/output"
}

verdicts() {
    jq -r 'select(.suite == "certify" and .test == "certify" and .node) | "\(.node) \(.verdict)"' \
        "$work/records" | sort | xargs
}

failures_of() { # NODE
    jq -r --arg node "$1" 'select(.node == $node and .verdict == "fail" and .test != "certify") |
        "\(.test) \(.part // ""): \(.message // "")"' "$work/records"
}

certify_settled() {
    certify "$@"
    [[ $(verdicts) == *fail* ]] || ! is_unsettled || certify "$@"
}

is_unsettled() { [[ $(verdicts) == *unknown* ]] && show; }

# Waits for jobs that are completing: a node is "draining" until its last job has ended, then "drained".
states() {
    within 20 no_jobs -t completing
    sinfo_nodes -o '%N %T' | sed 's/\*$//' | sort -u | xargs
}
reason() { lab run sinfo -h -N -n "$1" -o %E; }
resume() { lab run scontrol update "nodename=$1" state=resume; }

certificates() { # prints the nodes that have a certificate
    local node
    for node in n1 n2 n3 n4; do
        lab on $node test -e /var/lib/muster/certificate && echo $node
    done | xargs
}

journals() { lab run sh -c 'ls /var/lib/muster/runs 2>/dev/null'; }
jobs_left() { lab run squeue -h -o '%j'; }
reservations() {
    local text
    text=$(lab run scontrol -o show reservation) || return
    grep -o 'ReservationName=[^ ]*' <<<"$text" || :
}
processes() { # of muster, on the head and the nodes
    local host
    for host in head n1 n2 n3 n4; do lab on $host pgrep -a muster | sed "s/^/$host /"; done
}

nothing_left() {
    says_nothing jobs_left && says_nothing reservations && [ -z "$(journals)" ] && [ -z "$(processes)" ]
}

low_figures() { # prints the links below their limit, and the pressure on the machine's processors
    jq -r 'select(.suite == "links" and .unit == "Mb/s" and .peer and .value < 170) |
        "\(.metric) \(.node) > \(.peer) \(.part): \(.value) of \(.samples), \(.low) to \(.high)"' "$work/records"
    head -n 1 /proc/pressure/cpu 2>/dev/null
}

show() { # prints the output and the low figures, after a failed check
    sed '/ so far$/d; s/^/# /' "$work/output" >&2
    low_figures | sed 's/^/# /' >&2
}
