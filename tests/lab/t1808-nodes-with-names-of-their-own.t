#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each NodeName differs from the host's name, is fully qualified or has no number, and resolves nowhere:
# nodes are certified, checked, found at fault, drained, released and revoked by Slurm's name.
# shellcheck disable=SC2034 # certify.sh's
lab_options=(--plugin-required --names "n1.example.org,n2.example.org,alpha,beta")
. "$(dirname "$0")/certify.sh"

names='alpha beta n1.example.org n2.example.org'
is "$(lab on n1 hostname) $(lab on n3 hostname)" 'n1 n3' 'hosts have names of their own'
for host in head n1 n2 n3 n4; do
    conf_add $host OnMissing=refuse GateBrake=off
done
certify_settled -l quick
is "$status $(verdicts)" "0 $(sed 's/ / pass /g' <<<"$names") pass" 'all are certified' || show
is "$(certificates)" 'n1 n2 n3 n4' 'and have their certificates'
valid 'records of the schema'
like "$(lab run "$muster" history)" 'n2\.example\.org' 'history has the names'

# by hand, where Slurm sets no variable with the node's name
like "$(lab on n1 "$muster" certificate verify)" 'n1\.example\.org' 'the host n1 knows that it is n1.example.org'
is "$(lab on n3 "$muster" check --json --only slurm | jq -r .node | sort -u)" alpha '... and n3 that it is alpha'
like "$(as_user timeout 100 srun -N4 sh -c 'echo $SLURMD_NODENAME' | sort | xargs)" "^$names\$" 'the gate lets a job start on all'
lab run sh -c "srun -Q -N2 -w 'n1.example.org,n2.example.org' '$muster' check --health" >"$work/output" 2>&1
is "$?:$(cat "$work/output")" 0: 'the health check has nothing to say'

# shellcheck disable=SC2016 # for the script
printf '%s\n' '#!/bin/bash' "export PATH=${muster%/*}:\$PATH" 'nodes=$(muster preflight --keep 3) &&' \
    'srun -N3 -w "$nodes" true && echo "kept $nodes"' >"$work/script"
chmod 755 "$work" "$work/script"
said=$(as_muster salloc -Q -N3 -w n1.example.org,n2.example.org,alpha "$work/script" 2>"$work/output" </dev/null)
is "$said" 'kept alpha,n1.example.org,n2.example.org' 'preflight --keep prints a list for srun' || show
like "$(cat "$work/output")" 'alpha,n\[1-2\]\.example\.org' '... and a short list for people'

lab fault slow-rail n2 eth1 >/dev/null
certify -l quick
is "$status $(verdicts)" '1 alpha pass beta pass n1.example.org pass n2.example.org fail' 'a slow rail' || show
is "$(states)" 'alpha idle beta idle n1.example.org idle n2.example.org drained' '... drains its node'
like "$(reason n2.example.org)" '^muster: rail_slow eth1 ' '... with a reason'
like "$output" '(^|[^.a-z0-9])n2\.example\.org .*eth1' '... and the output has that name' || show
lab heal >/dev/null
certify_settled -l quick -w 'n[1-2].example.org'
is "$status $(states)" "0 $(sed 's/ / idle /g' <<<"$names") idle" 'repaired, it is released' || show

status=0
output=$(lab run "$muster" revoke -w 'alpha,n[1-2].example.org' 2>&1) || status=$?
is "$status $(certificates)" '0 n4' 'revoked by a list of both kinds of name' || diag "$output"
as_user timeout 100 srun -Q -w n1.example.org true >/dev/null 2>&1
ok 'the gate refuses a node that has none' within 60 sh -c \
    "'$lab_dir/lab' -L '$name' run sinfo -h -n n1.example.org -o %E | grep -q '^Prolog error'"
lab run scancel -u nobody
ok 'nothing is left' within 60 nothing_left
done_testing
