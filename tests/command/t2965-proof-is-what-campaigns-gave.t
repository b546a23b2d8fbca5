#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# doc/proof.md is exactly what tests/campaign/summary makes of the stored results.
. "$(dirname "$0")/../tap.sh"

command -v python3 >/dev/null || skip_all 'no python3'
tests=$(cd "$(dirname "$0")/.." && pwd)
summary=$tests/campaign/summary
work=$(mktemp -d)
tap_cleanup() { rm -rf "$work"; }

result() { # FAULT OUTCOME INNOCENTS [NODES]
    echo "{\"commit\": \"c0ffee\", \"processors\": 2, \"load\": 3.5, \"beside\": \"\", \"nodes\": ${4-4}, \"round\": 1," \
        "\"fault\": \"$1\", \"options\": \"\", \"outcome\": \"$2\", \"innocents\": $3, \"seconds\": 20}"
}

is "$("$summary")" "$(cat "$tests/../doc/proof.md")" 'doc/proof.md is the summary of the results'

for _ in $(seq 20); do result 'slow-rail n2 eth1' right 0; done >"$work/results"
like "$("$summary" "$work/results")" '\| slow rail \| 4 \| - \| 4 \| 20 \| 20 \| 84 to 100 % \| 0 \| 0 \| 0 \| 0 \|' \
    'twenty of twenty: Wilson has 84 to 100 %'
result 'slow-rail n3 eth2 100' wrong 2 >>"$work/results"
result 'slow-rail n1 eth2 + frozen n2' missed 0 >>"$work/results"
output=$("$summary" "$work/results")
like "$output" '\| slow rail \| 4 \| - \| 4 \| 21 \| 20 \| [0-9]+ to 99 % \| 0 \| 0 \| 0 \| 1 \|' \
    'the same fault on other nodes is in the same row'
like "$output" '^- \*\*Faults:\*\* 2 kinds, 1 of them 20 times or more\. Certify had 2 kinds' 'a summary is first: kinds and repeats'
like "${output//$'\n'/ }" '22 certifications, 20 right \(72 to 97 %\), 0 partly \(0 to 15 %\), 0 unknown [^,]*, 1 +missed [^,]*, 1 wrong ' \
    '... and outcomes with intervals'
like "$output" '\| slow rail \+ frozen \| 4 \|.*\| 0 \| 0 \| 1 \| 0 \| 20 \(20\) \|' 'simultaneous faults have a separate row'
for _ in $(seq 10); do result healthy right 0 32; done >"$work/healthy"
like "$("$summary" "$work/healthy")" '\| 32 \| - \| 4 \| 10 \| 10 \| 320 \| 0 \| 1.2 % \|' \
    'no failure in 320 nodes: at most 1.2 %'

mutant() { # ROOM OUTCOME [NOTE]
    echo "{\"commit\": \"c0ffee\", \"room\": \"$1\", \"file\": \"a.c\", \"line\": 7, \"was\": \"a || b\", \"is\": \"a && b\"," \
        "\"outcome\": \"$2\", \"by\": \"\", \"seconds\": 9${3:+, \"note\": \"$3\"}}"
}
{ cat "$work/healthy"; for _ in 1 2 3; do mutant policy killed; done; mutant judge survived 'the same'; } >"$work/both"
output=$("$summary" "$work/both")
like "$output" '\| policy \| 3 \| 3 \| 44 to 100 % \|' 'mutants: killed by room'
like "$output" '\| all \| 4 \| 3 \| [0-9]+ to 95 % \|' '... and the total'
# shellcheck disable=SC2016 # Markdown's own
ok '... the mutants that survived, with the reason' grep -qF '| a.c:7 | `a \|\| b` | `a && b` | the same |' <<<"$output"

fault() { # FAULT SIGHT OUTCOME CHECKS
    echo "{\"fault\": \"$1\", \"sight\": \"$2\", \"outcome\": \"$3\", \"checks\": $4, \"drained\": true}"
}
hour() { # HOUR WRONG DESCRIPTORS FAULT...
    local IFS=,
    echo "{\"commit\": \"c0ffee\", \"processors\": 2, \"load\": 3.5, \"nodes\": 4, \"piece\": \"today\", \"hour\": $1," \
        "\"checks\": 240, \"jobs\": 30, \"certifications\": 2, \"seconds\": 150, \"wrong\": [${2:+\"$2\"}]," \
        "\"sizes\": {\"slurmd_descriptors\": $3}, \"faults\": [${*:4}]}"
}
{
    hour 1 '' 28 "$(fault 'gpu off' fail right 3)" "$(fault 'slow rail' blind right 0)"
    hour 2 '7: n2 is drained: x' 29 "$(fault 'gpu off' fail missed 0)"
} >"$work/soak"
output=$(cat "$work/soak" "$work/both" >"$work/all" && "$summary" "$work/all")
like "$output" '^- \*\*Faults:\*\* 2 kinds, 0 of them 20 times' 'a soak: its kinds are counted, too'
like "$output" '^- \*\*Health checks,\*\* 2 simulated hours: 1 named in time of 2 faults .* and 1 irregularities' '... and its findings'
like "$output" '^- \*\*Certify, nothing wrong:\*\* 10 certifications with 320 node-runs, of which 0 failed' '... beside healthy nodes'
like "$output" '\| gpu off \| fail \| 2 \| 1 \| [0-9]+ to [0-9]+ % \| 0 \| 1 \| 3 \| 2 \|' 'a soak: faults and findings'
like "$output" '\| slow rail \| cannot see it \| 1 \| - \| - \| - \| - \| - \| - \|' '... a fault that cannot be seen has a row, too'
like "$output" '^time: 1\.' '... and wrong findings'
# shellcheck disable=SC2016 # Markdown's own
ok '... with their minute' grep -qxF -- '- `today hour 2 minute 7: n2 is drained: x`' <<<"$output"
like "$output" '\| slurmd descriptors \| 28 \| 29 \|' '... and the first and last size of resources'

restart() { # WAY SECONDS
    echo "{\"commit\": \"c0ffee\", \"processors\": 2, \"load\": 3, \"round\": 1, \"killed\": \"node\", \"way\": \"$1\"," \
        "\"seconds\": $2, \"undisturbed\": 10.0}"
}
{ cat "$work/healthy"; restart run 30; restart run 50; restart requeue null; } >"$work/both"
output=$("$summary" "$work/both")
like "$output" '\| node \| `muster run --spares=1` \| 3 \| 2 \| 2 \| 30 s \| 40 s \|' 'killed jobs: the time that they lost'
like "$output" 'requeue` \| 3 \| 1 \| 0 \| - \| - \|' '... and jobs that did not complete'

watched() { # KIND SIGHT OUTCOME SECONDS WATCHED ALARMS
    echo "{\"commit\": \"c0ffee\", \"processors\": 2, \"load\": 3, \"beside\": \"builds\", \"nodes\": 4, \"round\": 1," \
        "\"kind\": \"$1\", \"sight\": \"$2\", \"target\": \"n2 eth1\", \"outcome\": \"$3\", \"named\": \"\"," \
        "\"seconds\": $4, \"watched\": $5, \"alarms\": $6}"
}
{
    cat "$work/healthy"
    watched rank-stopped alarm right 7.5 450 0
    watched rank-stopped alarm wrong 20 450 1
    watched rank-dawdles blind missed null 900 0
    watched none quiet right null 1800 0
    watched suspended quiet wrong null 1800 2
} >"$work/both"
output=$("$summary" "$work/both")
like "${output//$'\n'/ }" 'Watch, faults in a running job:\*\* 2 that +it +promises +to +see, +1 +right .* 1 +wrong [^;]*; +1 +that +it +cannot +see, +0 +of +them +wrong; +3 +false +alarms +in +1.5 +hours' 'the summary has those of watch'
like "$output" '\| rank stopped \| warn or fail \| 3 \| 2 \| 1 \| 9 to 91 % \| 0 \| 0 \| 0 \| 1 \| 8 \(8\) \|' \
    'faults in a running job: what was named, and when'
like "$output" '\| rank dawdles \| cannot see it \| 3 \| 1 \| 0 \| 0 to 79 % \| 0 \| 0 \| 1 \| 0 \| - \|' '... what cannot be seen has a row, too'
like "$output" '\| before a fault \| 3 \| 3 \| 2 \| 0.5 \| 1 \| 2.0 \|' '... false alarms before a fault'
like "$output" '\| suspended \| 3 \| 1 \| 0 \| 0.5 \| 2 \| 4.0 \|' '... and of what is no fault'
like "$output" '\| all \| 3 \| 5 \| 3 \| 1.5 \| 3 \| 2.0 \|' '... and of all'
like "$output" '\| muster watch \| .* \| 0.20 \(4 to 62 %\) \| 0.33 \(.*\); .* 0.50 \(.*\) \| 8 s \(median\)' '... precision and recall'
like "$output" '\| Minder \|.*\| 0.904 \|' '... beside those of others'

result healthy perhaps 0 >>"$work/results"
is "$("$summary" "$work/results" 2>&1)" \
    "summary: $work/results:23: no result: outcome 'perhaps', not one of right, partly, unknown, missed, wrong" \
    'a line that is not a result is named'
echo '{"commit": "c0ffee"' >"$work/results"
like "$("$summary" "$work/results" 2>&1)" "^summary: $work/results:1: no result: " '... so is a truncated line'
"$summary" "$work/results" >/dev/null 2>&1
is $? 2 '... with exit status 2'
done_testing
