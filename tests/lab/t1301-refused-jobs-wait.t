#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What happens to a node that refuses jobs, to these jobs, and to root's jobs there.
. "$(dirname "$0")/gate.sh"

gate_lab_up -n 2
policies refuse refuse refuse
reason() { lab run sinfo -h -N -n "$1" -o %E; }
# srun prints one of these, whichever reaches it first.
refusal() { echo "Prolog failure on node $1|has been revoked"; } # NODE
refuses() { [[ $(as_user srun -w "$1" true 2>&1) =~ $(refusal "$1") ]]; } # NODE
job_state() { lab run squeue -h -j "$1" -o '%T %r'; }
is_job() { [ "$(job_state "$1")" = "$2" ]; }

ok "root's job runs, as those of certification must" lab run srun -w n1 true
ok '... and the node stays in service' within 60 is_in n1 idle

got=$(as_user srun -w n1 true 2>&1)
isnt $? 0 "a user's srun fails"
like "$got" "$(refusal n1)" '... by the prolog'
ok '... and the node is drained' within 60 is_in n1 drained
is "$(reason n1)" 'Prolog error' "... for Slurm's own reason"
ok '... and leaves no job' within 60 no_jobs
got=$(lab run "$muster" certify -w n1 2>&1)
is $? 0 'muster certify -w n1, the next step of the refusal, certifies the node' || echo "$got"
like "$got" "n1 was drained by muster's gate: the gate refused a job: n1: certificate missing" \
    '... and says why it was drained'
like "$got" 'n1 released; it was drained: Prolog error' '... and that it is released again'
ok '... and Slurm has it idle' within 60 is_in n1 idle
ok '... and the job runs' as_user srun -w n1 true
not_ok '... the note is gone' lab on n1 test -e "${certificate%/*}/refused"
lab run scontrol update nodename=n1 state=drain reason='Prolog error'
got=$(lab run "$muster" certify -w n1 2>&1)
is $? 1 'a prolog that fails for another reason is not repaired by that' || echo "$got"
like "$got" "Prolog error, not by muster's gate" '... and the output says so'
ok '... and the node is drained again' within 60 is_in n1 drained
is "$(reason n1)" 'Prolog error' '... for the same reason'
ok '... and keeps its certificate' lab on n1 test -e "$certificate"
resume n1
lab on n1 rm "$certificate"
ok "the user's jobs run on the other node" as_user srun -w n2 true

printf '#!/bin/sh\nhostname\n' >"$work/job"
chmod 755 "$work/job"
id=$(as_user sbatch -D /tmp --parsable -w n1 -o /tmp/out "$work/job")
ok "a user's batch job is requeued and held" within 60 is_job "$id" \
    'PENDING launch failed requeued held'
ok '... its node is drained' within 60 is_in n1 drained
issue n1
resume n1
lab run scontrol release "$id"
ok 'certified, resumed and released, it waits only for the two minutes that Slurm delays a requeued job' \
    within 60 is_job "$id" 'PENDING BeginTime'
ok "and a user's srun runs there again" as_user srun -w n1 true

# one event of the whole site: both nodes have no certificate, and DrainCap lets one of them refuse
for node in n1 n2; do
    sed -i 's/^GateBrake=.*/GateBrake=3/; /^On/d' "$top/.lab/$name/$node/etc/muster/muster.conf"
    conf_add $node OnMissing=refuse
    lab on $node rm -f "$certificate"
done
on() { # NODE WORD...: runs muster there
    local node=$1
    shift
    lab on "$node" env MUSTER_CONF=/etc/muster/muster.conf SLURMD_NODENAME="$node" "$work/muster" "$@"
}
ok 'before any health check no node refuses' as_user srun -w n1 true
like "$(slurmd_log n1)" 'job [0-9]+ allowed despite OnMissing=refuse, because the brake is on' \
    '... and says that the brake is on'
on n1 check --health >/dev/null
on n2 check --health >"$work/said"
like "$(cat "$work/said")" 'n2: gate: 2 of 2 nodes are "missing"' 'the health checks count the nodes without a certificate'
like "$(on n2 certificate show)" 'brake +on, .*2 of 2 nodes.*muster certificate --brake=off' \
    '... muster certificate shows the brake, and the line that lifts it'
ok 'the second node runs its job' as_user srun -w n2 true
ok 'the first node refuses its job' refuses n1
within 60 is_in n1 drained
is "$(state_of n2)" idle 'so that not all are drained'
on n1 check --health >/dev/null
like "$(reason n1)" '^muster: gate_refused - certificate missing' \
    "the health check makes the drain muster's own, so that any run tests the node"
lab run "$muster" certify >"$work/said" 2>&1 || cat "$work/said"
is "$(state_of n1) $(state_of n2)" 'idle idle' '... and releases it'
not_ok '... nothing of the gate is left in Extra' \
    sh -c "'$lab_dir/lab' -L '$name' run scontrol show node | grep -q muster_gate"
lab on n2 rm "$certificate"
on n2 certificate --brake=off >/dev/null
ok 'with the brake lifted the second node refuses too' refuses n2

done_testing
