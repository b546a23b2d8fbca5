# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# campaign.sh - for campaign-faults: certifies labs while the machine has other work, and counts verdicts and
# drains against innocent nodes. campaign-watch uses campaign_is_current only.
#
#   campaign_healthy 10 4 8 16    # ten certifications of healthy labs of 4, 8 and 16 nodes
#   campaign_busy 20              # twenty certifications with each fault that belongs to no node
#   campaign_end                  # ends all that was started, labs included
#
# $load runs beside each certification: none; loops, six busy loops of one session, which have one share of the
# processors where the kernel groups sessions; sessions, six loops in a session each; bursts, the same for 2 s in
# 5; or cluster, the loops and a second lab of four healthy nodes that is certified again and again; its runs
# count too, in a row of their own. Records are kept in $kept, one file per run.

readonly busy_loops=6
declare -rA beside_of=([none]='' [loops]='6 busy loops' [sessions]='6 busy sessions' [bursts]='6 sessions, busy for 2 s in 5'
    [cluster]='6 busy loops, a second cluster')
loops=() beside='' sizes_up=()
declare -A tally=()
innocent=0

# shellcheck disable=SC2154 # lab_dir, muster, kept, name and limit are set in campaign-faults
lab_of() { "$lab_dir/lab" -L "$1" "${@:2}"; }

# Whether muster was installed after the last commit: results are counted for that commit.
# shellcheck disable=SC2154 # top is set in campaign-faults
campaign_is_current() {
    [ -x "$muster" ] && [ "$(stat -c %Y "$muster")" -ge "$(git -C "$top" log -1 --format=%ct)" ] && return
    echo "campaign: $muster was installed before the last commit: build and install it" >&2
    return 1
}

# Prints the verdicts of a run that are not pass or skip, with their reasons, a line each.
not_passed() { # RECORDS
    jq -r 'select(.suite == "certify" and .test != "certify" and .verdict and .verdict != "pass" and
        .verdict != "skip") | "\(.node // "-") \(.verdict) \(.test) \(.part // "") \(.message // "")"' "$1"
}

verdicts_of() { # RECORDS: prints "NODE VERDICT" of each node
    jq -r 'select(.suite == "certify" and .test == "certify" and .node) | "\(.node) \(.verdict)"' "$1"
}

# Prints the nodes that muster has drained.
drained_by_muster() { # LAB
    lab_of "$1" run sinfo -h -N -o '%N|%T|%E' | awk -F'|' '$2 ~ /drain/ && $3 ~ /^muster:/ { print $1 }' | sort -u
}

resume_all() { # LAB NODE...
    local node
    for node in "${@:2}"; do
        lab_of "$1" run scontrol update "nodename=$node" state=resume
    done
}

# Adds a line of JSON to $results, for tests/campaign/summary. FAULT is "healthy" if there is none. OUTCOME is
# right, partly, unknown, missed or wrong (summary --help explains them). BESIDE: what else ran.
# shellcheck disable=SC2154 # top, results are set in campaign-faults
add_result() { # NODES ROUND FAULT OUTCOME INNOCENTS SECONDS OPTIONS BESIDE WHAT
    local commit
    commit=$(git -C "$top" describe --always --dirty --exclude '*')
    jq -nc --arg commit "$commit" --arg nodes "$1" --arg round "$2" --arg fault "$3" --arg outcome "$4" \
        --arg innocents "$5" --arg seconds "$6" --arg options "$7" --arg beside "$8" --arg what "$9" \
        --arg load "$(cut -d' ' -f1 /proc/loadavg)" --arg processors "$(nproc)" '{commit: $commit,
        processors: ($processors | tonumber), load: ($load | tonumber), beside: $beside,
        nodes: ($nodes | tonumber), round: ($round | tonumber), fault: $fault, options: $options,
        outcome: $outcome, innocents: ($innocents | tonumber), seconds: ($seconds | tonumber)} +
        if $what == "" then {} else {what: $what} end' >>"$results"
}

count_for() { # ROW WHAT [HOW-MANY]
    local key="$1|$2"
    tally[$key]=$((${tally[$key]-0} + ${3-1}))
}

# Adds the result of certify_and_count() on a healthy lab.
add_healthy_result() { # NODES ROUND RUN
    local innocents outcome=right
    innocents=$(printf '%s\n' $failed_nodes $drained_nodes | sort -u | grep -c .)
    verdicts_of "$kept/$3.jsonl" | grep -qv ' pass$' && outcome=unknown
    [ -s "$kept/$3.jsonl" ] || outcome=unknown
    [ "$innocents" -eq 0 ] || outcome=wrong
    add_result "$1" "$2" healthy $outcome "$innocents" "$seconds" '' "${beside_of[$load]}" \
        "$(not_passed "$kept/$3.jsonl" | head -n 1)"
}

# Certifies LAB once. Records go to $kept/RUN.jsonl, the output to $kept/RUN.txt. Counts nodes in ROW, returns
# drained nodes to service, and sets $failed_nodes, $drained_nodes and $seconds.
certify_and_count() { # LAB ROW RUN [OPTION...]
    local lab=$1 row=$2 run=$3 status=0 begin=$EPOCHREALTIME verdict count
    shift 3
    : >"$kept/$run.jsonl"
    lab_of "$lab" run "$muster" certify --json "$kept/$run.jsonl" ${limit:+--time-limit "$limit"} "$@" \
        >"$kept/$run.txt" 2>&1 </dev/null || status=$?
    seconds=$(awk "BEGIN { printf \"%.1f\", $EPOCHREALTIME - $begin }")
    failed_nodes=$(verdicts_of "$kept/$run.jsonl" | awk '$2 == "fail" { print $1 }' | xargs)
    drained_nodes=$(drained_by_muster "$lab" | xargs)
    count_for "$row" runs
    count_for "$row" nodes "$(verdicts_of "$kept/$run.jsonl" | grep -c .)"
    for verdict in pass fail unknown; do
        count=$(verdicts_of "$kept/$run.jsonl" | awk -v verdict=$verdict '$2 == verdict' | wc -l)
        count_for "$row" $verdict "$count"
    done
    count_for "$row" drained "$(wc -w <<<"$drained_nodes")"
    # shellcheck disable=SC2086 # names
    resume_all "$lab" $drained_nodes
    printf '%-12s %-32s %6.1f s  status %s  load %s%s%s\n' "$row" "$run" \
        "$seconds" "$status" "$(cut -d' ' -f1 /proc/loadavg)" \
        "${failed_nodes:+  failed: $failed_nodes}" "${drained_nodes:+  drained: $drained_nodes}"
    if verdicts_of "$kept/$run.jsonl" | grep -qv ' pass$'; then
        not_passed "$kept/$run.jsonl" | sed 's/^/    /'
    fi
}

certify_beside() {
    local round=0
    trap 'exit 143' TERM
    tally=()
    while :; do
        round=$((round + 1))
        certify_and_count "$name-beside" beside "beside-$$-$round" >"$kept/beside-$$-$round.out"
        add_healthy_result 4 "$round" "beside-$$-$round"
        {
            cat "$kept/beside-$$-$round.out"
            declare -p tally
        } >"$kept/beside.now"
        mv "$kept/beside.now" "$kept/beside.last"
        ! grep -q '^    ' "$kept/beside-$$-$round.out" || cat "$kept/beside-$$-$round.out" >>"$kept/beside.bad"
        rm "$kept/beside-$$-$round.out"
    done
}

# Starts the busy loops and the second lab. The loops die with this process, however it ends.
beside_start() {
    local loop
    rm -f "$kept"/beside.{last,bad} "$kept"/beside-*.out
    [ "$load" != none ] || return 0
    for ((loop = 0; loop < busy_loops; loop++)); do # not _, which each command sets
        case $load in
        sessions) setpriv --pdeathsig KILL setsid sh -c 'while :; do :; done' & ;;
        bursts)
            setpriv --pdeathsig KILL setsid sh -c \
                'while :; do timeout 2 sh -c "while :; do :; done"; sleep 3; done' &
            ;;
        *) setpriv --pdeathsig KILL sh -c 'while :; do :; done' & ;;
        esac
        loops+=($!)
        disown
    done
    [ "$load" = cluster ] || return 0
    lab_of "$name-beside" up -n 4 >/dev/null || return 1
    certify_beside &
    beside=$!
}

beside_stop() {
    [ ${#loops[@]} -eq 0 ] || kill -KILL "${loops[@]}" 2>/dev/null
    [ -z "$beside" ] || kill "$beside" 2>/dev/null
    loops=()
    # taking the lab down ends the certification that is under way
    [ "$load" != cluster ] || lab_of "$name-beside" down >/dev/null
    [ -z "$beside" ] || wait "$beside" 2>/dev/null
    beside=
    # Adds the counts up to its last complete round, if it had one.
    if [ -e "$kept/beside.last" ]; then
        local key line
        line=$(grep '^declare -A tally=' "$kept/beside.last" | sed 's/^declare -A tally=/local -A theirs=/')
        eval "$line"
        for key in "${!theirs[@]}"; do
            if [[ $key == beside\|* ]]; then tally[$key]=$((${tally[$key]-0} + theirs[$key])); fi
        done
    fi
    [ ! -e "$kept/beside.bad" ] || sed 's/^/beside: /' "$kept/beside.bad"
}

campaign_end() {
    local one
    beside_stop
    for one in "${sizes_up[@]}"; do
        lab_of "$one" down >/dev/null
    done
    sizes_up=()
}

start_lab() { # LAB NODES
    sizes_up+=("$1")
    lab_of "$1" up -n "$2" >/dev/null || return 1
}

table() {
    local row innocents
    printf '\n%-12s %5s %6s %10s %7s %8s %8s\n' NODES RUNS NODES CERTIFIED FAILED UNKNOWN DRAINED
    for row in $(printf '%s\n' "${!tally[@]}" | sed -n 's/|runs$//p' | sort -V); do
        printf '%-12s %5d %6d %10d %7d %8d %8d\n' "$row" "${tally[$row|runs]}" "${tally[$row|nodes]-0}" \
            "${tally[$row|pass]-0}" "${tally[$row|fail]-0}" "${tally[$row|unknown]-0}" "${tally[$row|drained]-0}"
        innocents=$((${tally[$row|fail]-0} + ${tally[$row|drained]-0}))
        innocent=$((innocent + innocents))
    done
    echo "$innocent verdicts and drains against innocent nodes; records are in $kept"
}

campaign_healthy() { # TIMES NODES...
    local times=$1 size round
    shift
    for size; do
        start_lab "$name-$size" "$size" || return 1
        beside_start || return 1
        for ((round = 1; round <= times; round++)); do
            certify_and_count "$name-$size" "$size" "healthy-$load-$size-$$-$round"
            add_healthy_result "$size" "$round" "healthy-$load-$size-$$-$round"
        done
        campaign_end
    done
    table
    [ "$innocent" -eq 0 ]
}

# Faults that belong to no node, and the pattern of the part that certify must name.
busy_faults() {
    cat <<'END'
slow-leaf leaf2 | ^leaf leaf2
slow-path n1 n3 eth1 | ^path n1.*n3
END
}

campaign_busy() { # TIMES
    local times=$1 round fault pattern run what named key
    start_lab "$name-busy" 4 || return 1
    beside_start || return 1
    for ((round = 1; round <= times; round++)); do
        while IFS='|' read -r fault pattern; do
            fault=${fault% } pattern=${pattern# }
            run=${fault%% *}-$$-$round
            # shellcheck disable=SC2086 # a fault is several words
            lab_of "$name-busy" fault $fault >/dev/null || return 1
            certify_and_count "$name-busy" "${fault%% *}" "$run"
            named=$(jq -r 'select(.suite == "certify" and .test == "links" and .verdict == "fail") | .part // ""' \
                "$kept/$run.jsonl" | grep -Ec -e "$pattern")
            if [ -n "$failed_nodes$drained_nodes" ]; then
                what=innocent
            elif [ "$named" -gt 0 ]; then
                what=right
            elif verdicts_of "$kept/$run.jsonl" | grep -qv ' pass$' || [ -n "$(not_passed "$kept/$run.jsonl")" ]; then
                what=unknown
            else
                what=missed
            fi
            echo "    ${fault%% *}: $what"
            add_result 4 "$round" "$fault" "${what/innocent/wrong}" \
                "$(printf '%s\n' $failed_nodes $drained_nodes | sort -u | grep -c .)" "$seconds" '' "${beside_of[$load]}" \
                "$([ $what = right ] || not_passed "$kept/$run.jsonl" | head -n 1)"
            count_for "${fault%% *}" "named $what"
            lab_of "$name-busy" heal >/dev/null
        done < <(busy_faults)
    done
    campaign_end
    table
    printf '\n%-12s %6s %8s %7s %9s\n' FAULT RIGHT UNKNOWN MISSED INNOCENT
    while IFS='|' read -r fault _; do
        key=${fault%% *}
        printf '%-12s %6d %8d %7d %9d\n' "$key" "${tally[$key|named right]-0}" "${tally[$key|named unknown]-0}" \
            "${tally[$key|named missed]-0}" "${tally[$key|named innocent]-0}"
    done < <(busy_faults)
    [ "$innocent" -eq 0 ]
}
