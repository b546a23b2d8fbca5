#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The table of spank_muster(8): which hook may fail, and with which consequence, under `required`
# and under `optional`.
. "$(dirname "$0")/gate.sh"

gate_lab_up -n 2
config=config=/etc/muster/muster.conf
all() { for host in head n1 n2; do plugstack $host "$1 $plugin $config"; done; }
nodes() { sinfo_nodes -o %T | sort -u; }
all_idle() { [ "$(nodes)" = idle ]; }
job() { as_user timeout 100 srun -Q "$@" 2>&1; }
bad_twin() { as_user env MUSTER_EXPLAIN=what timeout 100 "$@" 2>&1; }
printf '#!/bin/sh\n' >"$work/true"
chmod 755 "$work/true"

for need in required optional; do
    all $need
    for command in srun salloc sbatch; do
        got=$(as_user timeout 100 $command -n1 --muster=what "$work/true" 2>&1)
        isnt $? 0 "$need: option callback, $command: fails"
    done
done

all required
for command in srun salloc sbatch; do
    got=$(bad_twin $command -n1 "$work/true")
    isnt $? 0 "required: init_post_opt, $command: fails"
done
is "$(lab run squeue -h | wc -l) $(nodes)" '0 idle' '... with no job left, and no node affected'
all optional
got=$(bad_twin srun -n1 true)
is $? 0 'optional: init_post_opt: the job runs'
like "$got" 'error: muster: MUSTER_EXPLAIN=what: expected on or off' '... with an error message'

all required
for node in n1 n2; do
    conf_add $node 'SetEnvironment=perhaps'
done
# shellcheck disable=SC2016
is "$(job -N2 sh -c 'echo ${RANK-none}' | xargs)" 'none none' \
    'init_post_opt and task_init on the nodes: never fail'
ok '... no node is drained' within 60 all_idle
within 60 no_jobs # if slurmd is killed in a job's epilog, the job ends a minute later
lab fault slurmd-killed n1 >/dev/null
lab heal >/dev/null
ok 'init in slurmd: slurmd starts nevertheless' within 60 is_in n1 idle

for node in n1 n2; do sed -i '/SetEnvironment=perhaps/d' "$top/.lab/$name/$node/etc/muster/muster.conf"; done
policies refuse refuse refuse
got=$(job -w n1 true)
isnt $? 0 'required: job_prolog: the job is refused'
ok '... and the node drained' within 60 is_in n1 drained
resume n1
all optional
lines=$(slurmd_log n1 | wc -l)
ok 'optional: job_prolog: the job runs' job -w n1 true
like "$(slurmd_log n1 | tail -n +$((lines + 1)))" 'refused by OnMissing=refuse' '... although the log says refused'
ok '... and the node stays in service' within 60 is_in n1 idle

done_testing
