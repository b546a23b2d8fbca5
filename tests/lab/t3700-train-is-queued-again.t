#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A training job in two stages, one on each island that the plugin sets: a killed rank
# is named, and the job is queued again and continues by itself to bit for bit the same result.
. "$(dirname "$0")/spank.sh"

[ -x "$prefix/bin/muster-train" ] || skip_all 'the trainer is not built'
spank_lab_up -n 2
for node in n1 n2; do conf_add $node 'Island=east nodes=n1 fabric=Ethernet' 'Island=west nodes=n2 fabric=RoCEv2'; done
cp "$top/etc/muster-train.sbatch" "$work/"
chmod 777 "$work" # the job is an ordinary user's
small=(--layers=2 --heads=2 --channels=32 --context=16 --vocab=64 --batch=4 --steps=600
    --checkpoint-every=20 --threads=1 --layout=auto)
told() { grep -q "$1" "$work/out"; }

id=$(as_muster sbatch --parsable -N2 --ntasks-per-node=1 -o "$work/out" "$work/muster-train.sbatch" \
    "$work/run" "${small[@]}")
ok 'the job begins' within 200 told '^step 30 '
like "$(grep ^stage "$work/out")" 'stage 0: 1 layer on rank 0 on n1, island east' 'an island is a stage'
like "$(grep ^stage "$work/out")" 'stage 1: 1 layer on rank 1 on n2, island west' '... and so is the other'
# shellcheck disable=SC2016 # for the node's shell
lab on n2 sh -c 'kill -KILL $(pgrep -x muster-train)'
ok 'killed on one node, it is queued again' within 200 told 'requeueing, to resume from .*/run/step-'
like "$(cat "$work/out")" 'rank 1 on n2 died' '... with rank and node named'
# Slurm lets the job wait two minutes, so that no message for a step of the first start can end a step of the
# second, which has the same number. The test waits until no step daemon runs, and three seconds more.
is_gone() { ! lab on n1 pgrep slurmstepd && ! lab on n2 pgrep slurmstepd; }
within 60 is_gone
sleep 3
goes_on() {
    told 'resuming from step [0-9]*0 of ' && return
    [[ $(lab run scontrol -o show job "$id") == *' JobState=PENDING Reason=BeginTime '* ]] &&
        lab run scontrol update "JobId=$id" StartTime=now
    return 1
}
ok 'it continues from its checkpoint' within 200 goes_on
ok '... and completes' within 200 told '^final '
as_muster srun -N2 muster-train "${small[@]}" --checkpoint="$work/whole" >"$work/whole.out" 2>&1
is "$(grep '^final' "$work/out")" "$(grep '^final' "$work/whole.out")" \
    '... with the loss of an undisturbed run'
ok '... and the same result bit for bit' diff -r "$work/run/step-000000600" "$work/whole/step-000000600"
done_testing
