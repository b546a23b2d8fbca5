#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster plan: figures are from the history or an option, and the output says which; faulty nodes are left
# out; missing figures are named in one line.
. "$(dirname "$0")/command.sh"
needs muster tests/history-add

add=$top_builddir/tests/history-add
echo "HistoryFile=$dir/history.db" >"$dir/conf"
lay_out() { "$muster" plan --config "$dir/conf" "$@" 2>&1; }

line() { # SUITE TEST NODE PART MEMBERS
    printf '{"time":%s,"suite":"%s","test":"%s","node":"%s","part":"%s",%s}\n' "$now" "$@"
}
fact() { line check host.config "$1" '' "\"metric\":\"$2\",\"message\":\"$3\""; }
# n1 to n4 have InfiniBand on two switches, n5 and n6 Ethernet; each has 8 GPUs
run() { # DAY VERDICT-OF-n4
    now=$((1700000000 + 86400 * $1))
    for i in 1 2 3 4 5 6; do
        fact n$i gpu.count 8
        line check host.config n$i gpu0 '"metric":"gpu.memory","message":"80000 MB"'
        fact n$i fabric "$([ $i -lt 5 ] && echo InfiniBand || echo Ethernet)"
        line certify net.topology n$i '' "\"metric\":\"leaf\",\"message\":\"leaf$(((i + 1) / 2))\""
        line gpu gpu.compute n$i gpu0 "\"metric\":\"rate_fp32\",\"value\":$((i < 5 ? 60000 : 30000)),\"unit\":\"GFLOP/s\""
        for j in 1 2 3 4 5 6; do
            [ $i = $j ] && continue
            speed=$((i < 5 && j < 5 ? 400000 : 25000))
            line links links n$i ib0 "\"peer\":\"n$j\",\"metric\":\"bandwidth\",\"value\":$speed,\"unit\":\"Mb/s\""
        done
        line certify certify n$i '' "\"verdict\":\"$([ $i = 4 ] && echo "$2" || echo pass)\",\"message\":\"\""
    done | "$add" "$dir/history.db" "r$1" "$now"
}
job=(--layers=32 --channels=4096 --batch=1024 --steps=1000 --rate=400)

text=$(lay_out "${job[@]}")
is "$?" 3 'without a history there are no nodes: status 3'
is "$text" "muster plan: no nodes in the history $dir/history.db; give --available" '... with the reason in one line'
like "$(lay_out "${job[@]}" --available=4 --devices=8 --memory=80)" 'no bandwidth of a node of island all in the history; give --link' '... and no bandwidth'
run 0 pass
run 10 fail
run 12 pass
run 20 pass
run 30 fail

text=$(lay_out "${job[@]}")
is "$?" 0 'a plan: status 0'
like "$text" 'devices per node +8 +GPUs, from the history' 'GPUs'
like "$text" 'training speed +400 TFLOP/s +given' '... a given figure'
like "$text" 'node bandwidth +400 Gb/s +all rails of the slowest node' '... the bandwidth of a node'
like "$text" 'between islands +25 Gb/s +the slowest pair' '... the bandwidth between islands'
like "$text" 'memory per device +80 GB' '... memory'
like "$text" 'failures per 1000 node-days +6\.759 +2 failures in 180 node-days' '... failures'
like "$text" 'a repair +48 h +from a failure to the next pass, mean of 1' '... repairs'
like "$text" 'a restart +300 s +published' '... a published figure'
like "$text" 'checkpoint rate +1 GB/s +assumed' '... an assumed figure'
like "$text" '^cluster +5 of 6 nodes' 'the number of usable nodes'
like "$(lay_out "${job[@]}" --failures=0)" '^failures +none$' '--failures=0'
like "$text" '^#SBATCH --gres=gpu:8$' 'the request has the GPUs'
like "$text" '^#SBATCH --exclude=n.*4' 'a faulty node is left out'
text=$(lay_out "${job[@]}" --nodes=2 --spares=0)
like "$text" '^#SBATCH --nodes=2$' 'the requested number of nodes'
like "$text" '^#SBATCH --switches=1@' '... below one switch'
like "$text" '^#SBATCH --exclude=n\[4-6\]$' '... without nodes of another island'
text=$(lay_out "${job[@]}" --nodes=2 --spares=1)
like "$text" '^#SBATCH --nodes=3$' 'spares are added'
like "$text" '^#SBATCH --no-kill$' '... and the job outlasts a node'
like "$text" '^muster run --spares=1 -- srun COMMAND$' '... with muster run'
text=$(lay_out "${job[@]}" --available=8 --link=400 --across=25 --nodes=8 --spares=1 2>&1)
is "$? $text" '1 muster plan: requested 9 nodes, only 8 available' '... only if there are enough nodes'
text=$(lay_out "${job[@]}" --within=1s 2>&1)
is "$?" 1 'a time limit that no layout meets: status 1'
like "$text" '^muster plan: no layout ends within 1 s; this one takes ' '... with the fastest layout'
if command -v python3 >/dev/null; then
    is "$(lay_out "${job[@]}" --bandwidth=900 --json | python3 -c 'import json, sys
print(*[f["value"] for f in json.load(sys.stdin)["figures"] if f["figure"] == "memory bandwidth per device"])')" 900.0 \
        'each figure has its own name'
else
    skip 1 'no python3'
fi
text=$(lay_out "${job[@]}" --nodes=2 --spares=2)
like "$text" '^#SBATCH --nodes=4$' '... from another island if their own has too few'
like "$text" '^#SBATCH --exclude=n\[4,6\]$' '... which is then not excluded'
text=$(lay_out "${job[@]}" --nodes=4)
like "$text" 'layout +a pipeline of [24] stages' 'islands are the stages of a pipeline'
like "$text" 'stage 0 +(2[0-9]|1[0-9]) layers on [12] nodes? of island InfiniBand' '... the faster one first'
layers=$(sed -n 's/.*stage [0-9] *\([0-9]*\) layer.*/\1/p' <<<"$text")
ok '... with more layers' [ "$(head -n1 <<<"$layers")" -gt "$(tail -n1 <<<"$layers")" ]
bf16() { # NODE...: adds nearly equal rates in bfloat16
    for i in "$@"; do
        line gpu gpu.compute "n$i" gpu0 "\"metric\":\"rate_bf16\",\"value\":$((800000 - i)),\"unit\":\"GFLOP/s\""
    done | "$add" "$dir/history.db" "r$now" "$now"
}
now=$((now + 1))
bf16 1 2 3 4
is "$(lay_out "${job[@]}" --nodes=4 | grep ' layer')" "$(grep ' layer' <<<"$text")" \
    'a rate that only some nodes have is ignored'
now=$((now + 1))
bf16 5 6
layers=$(lay_out "${job[@]}" --nodes=4 | sed -n 's/.*stage [0-9] *\([0-9]*\) layer.*/\1/p')
ok 'with equal rates in bfloat16 on all nodes, stages are equal' \
    [ "$(head -n1 <<<"$layers")" -eq "$(tail -n1 <<<"$layers")" ]
text=$(lay_out "${job[@]}" --nodes=2 --block=2 --extra)
like "$text" '^#SBATCH --segment=2$' 'blocks'
like "$text" "#SBATCH --extra='muster_level>=2'" 'certified nodes'
like "$(lay_out --model=124M --batch=8 --steps=10 --rate=400)" 'layout +one device' 'a small job gets one device'

text=$(lay_out "${job[@]}" --nodes=2 --json)
is "$(wc -l <<<"$text")" 1 'JSON is one line'
for member in nodes:2 zero: step_s: goodput: 'sbatch:\["--nodes=2'; do
    like "$text" "\"${member%%:*}\":${member#*:}" "... with ${member%%:*}"
done

now=$((1700000000 + 86400 * 40))
line certify links '' 'uplink leaf1-leaf2' '"metric":"bandwidth","verdict":"fail","code":"uplink_slow","value":20,"unit":"Mb/s","message":"uplink leaf1-leaf2 carries 20 of 400 Mb/s per pair"' |
    "$add" "$dir/history.db" r40 "$now"
uplink='^muster plan: this plan does not count that uplink leaf1-leaf2 carries 20 of 400 Mb/s per pair; with an Island='
unlike "$(lay_out "${job[@]}")" "$uplink" 'a slow uplink is between islands'
echo 'Island=all nodes=n[1-6] fabric=InfiniBand' >>"$dir/conf"
like "$(lay_out "${job[@]}")" "$uplink" '... or is reported as not counted'
sed -i '$d' "$dir/conf"

plan_fails() { # STATUS EXPECTED ARGUMENT...
    local status=$1 expected=$2 text

    shift 2
    text=$(lay_out "$@")
    is "$?" "$status" "$*: status $status"
    like "$(head -n1 <<<"$text")" "^muster plan: $expected" '... with the reason'
}
plan_fails 2 '--batch is missing' --model=124M
plan_fails 2 'model missing' --batch=8
plan_fails 2 '--model and --parameters' --model=124M --parameters=1e9 --batch=8
plan_fails 2 '--steps and --tokens' --model=124M --batch=8 --steps=1 --tokens=1
plan_fails 2 '.*--within.*expected a time' --model=124M --batch=8 --within=soon
plan_fails 3 'training speed: not in the history; give --rate or --measured' --model=124M --batch=8
plan_fails 1 'no layout of the job fits on 4 nodes' --model=124M --batch=8 --rate=1 --nodes=4
plan_fails 1 'requested 9 nodes, only 5 available' --model=124M --batch=900 --rate=1 --nodes=9
plan_fails 3 "$dir/none: No such file" --model=124M --batch=8 --measured="$dir/none"
plan_fails 3 "$dir/conf: found no layer rate" --model=124M --batch=8 --measured="$dir/conf"
now=1
{
    line train train.one n1 'stage 0' '"metric":"layer_rate","value":50,"unit":"GFLOP/s"'
    line train train.one n1 'stage 1' '"metric":"layer_rate","value":40,"unit":"GFLOP/s"'
    line train train.one n1 'stage 0' '"metric":"update_rate","value":1e9,"unit":"1/s"'
} >"$dir/measured"
text=$(lay_out "${job[@]:0:4}" --measured="$dir/measured")
like "$text" "training speed +0.04 TFLOP/s +a layer on the slowest rank, from $dir/measured" 'figures that muster-train measured'
like "$text" 'memory bandwidth per device +40 GB/s +AdamW' '... also of updates'
done_testing
