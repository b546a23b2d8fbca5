#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --muster, --muster-explain and the variables for them, in srun, sbatch and salloc, and what nested steps
# inherit; a user's mistake is refused where the user sees it.
. "$(dirname "$0")/spank.sh"

spank_lab_up -n 2

# shellcheck disable=SC2016
rank='echo "rank:$RANK"'

is "$(lab run srun -n1 --muster=off sh -c "$rank")" 'rank:' '--muster=off'
is "$(lab run srun -n1 --muster=on sh -c "$rank")" 'rank:0' '--muster=on'
is "$(lab run env MUSTER_ENVIRONMENT=off srun -n1 sh -c "$rank")" 'rank:' 'MUSTER_ENVIRONMENT=off'
is "$(lab run env MUSTER_ENVIRONMENT=off srun -n1 --muster=on sh -c "$rank")" 'rank:0' \
    'the command line takes precedence over the variable'
is "$(lab run srun -n1 --muster=off --muster=on sh -c "$rank")" 'rank:0' 'of two options the last holds'

printf '#!/bin/sh\n' >"$work/true"
chmod +x "$work/true"
for command in srun sbatch salloc; do
    like "$(lab run $command --help)" '--muster=on\|off.*' "$command --help knows --muster"
    got=$(lab run $command -n1 --muster=maybe "$work/true" 2>&1)
    isnt $? 0 "$command --muster=maybe is refused"
    like "$got" '^'$command': error: muster: --muster=maybe: expected on\|off$' '... in one clear line'
    got=$(lab run env MUSTER_EXPLAIN=maybe $command -n1 "$work/true" 2>&1)
    isnt $? 0 "MUSTER_EXPLAIN=maybe $command is refused"
    like "$got" '^'$command': error: muster: MUSTER_EXPLAIN=maybe: expected on or off$' '... in one clear line'
done
ok 'none of them has left a job' within 60 no_jobs # earlier ones may still be ending

# what sbatch and salloc are given holds for the steps inside, until a step says otherwise
# shellcheck disable=SC2016
steps='srun -n1 sh -c "echo rank:\$RANK"; srun -n1 --muster=on sh -c "echo rank:\$RANK"'
is "$(lab run salloc -Q -n1 --muster=off sh -c "$steps" | xargs)" 'rank: rank:0' \
    "salloc's option holds for its steps, a step's own takes precedence"
cat >"$work/job" <<END
#!/bin/bash
$steps
END
# (standard error is not checked: srun may print there that it waits for a busy node)
lab run sbatch -Q -W -n1 --muster=off -o "$work/out" -e "$work/output" "$work/job"
is "$(xargs <"$work/out")" 'rank: rank:0' "so does sbatch's option" || diag "$(cat "$work/output")"
lab run sbatch -Q -W -N2 -n2 --muster-explain -o "$work/out" --wrap 'srun true'
is "$(grep -c ': RANK=' "$work/out")" 2 "and sbatch --muster-explain, once per node"

# explain
got=$(lab run srun -N2 --ntasks-per-node=2 --muster-explain true 2>&1)
is "$(grep -c '^muster: n1: ' <<<"$got") $(grep -c '^muster: n2: ' <<<"$got")" '27 27' \
    '--muster-explain: every variable once per node'
like "$got" '^muster: n1: NCCL_SOCKET_IFNAME==eth1,eth2 \(fabric interfaces: eth1 eth2 up, Ethernet; management is eth0\)$' \
    'value, rule and fact of a variable that is set'
like "$got" '^muster: n1: NCCL_IB_HCA left alone \(RDMA ports: not for a fabric of class Ethernet\)$' \
    'rule and reason of a variable that is not set'
like "$(lab run env UCX_NET_DEVICES=lo MUSTER_EXPLAIN=1 srun -n1 true 2>&1)" \
    'UCX_NET_DEVICES left alone \(fabric rails: set by the user to "lo"\)' 'and of a variable of the user'
is "$(lab run srun -N2 --muster-explain echo only 2>/dev/null)" 'only
only' 'it goes to standard error'
like "$(lab run srun -w n1 -n1 --muster=off --muster-explain true 2>&1)" \
    '^muster: n1: environment left unchanged: --muster=off' '--muster-explain says that muster is off'

# an unchanged MPI program, its collectives by muster's algorithms
program=$prefix/bin/muster-collectives
if [ -x "$program" ] && [ -e "$prefix/lib/libmustercoll-pmpi.so" ]; then
    cp "$program" "$work/" # where the nodes see it
    # Open MPI may crash in MPI_Init if a partner has already left it (open-mpi/ompi#11438)
    for _ in 1 2 3; do
        got=$(lab run env MUSTER_COLLECTIVES=ring MUSTER_COLLECTIVES_SUMMARY=1 \
            MUSTER_COLLECTIVES_CACHE="$work" MUSTER_ALLOW_ROOT=1 timeout 100 srun -N2 \
            --ntasks-per-node=2 --collectives=muster "$work/muster-collectives" --quick --json 2>&1)
        status=$?
        [ $status = 139 ] && [[ $got == *"Failing at address: (nil)"* ]] || break
    done
    is $status 0 'srun --collectives=muster: all results of an MPI program are exact'
    like "$got" '^muster: allreduce +ring +[0-9]+ ' "... by muster's rings"
else
    skip 2 'the battery or the preloaded library is not installed'
fi

# a library that only n1 has: ranks without it would take its messages for the program's own
for node in n1 n2; do
    plugstack $node "required $plugin config=/etc/muster/muster.conf library=/etc/slurm/collectives.so"
done
lab on n1 touch /etc/slurm/collectives.so
# shellcheck disable=SC2016
preload='echo "$(hostname): $LD_PRELOAD"'
got=$(lab run srun -N2 --collectives=muster sh -c "$preload" 2>&1)
isnt $? 0 'a step of two nodes fails where one lacks the library'
like "$got" 'n2: error: muster: task not started: --collectives=muster: no /etc/slurm/collectives.so on this node' \
    '... with an error that names the node'
is "$(lab run srun -N1 -w n2 --collectives=muster sh -c "$preload" 2>/dev/null)" 'n2: ' \
    '... a step of that node starts without it'
is "$(lab run sinfo -h -t drain,drained,draining -o %D)" '' '... no node is drained'

# SetEnvironment=no is a default, not a ban
for node in n1 n2; do conf_add $node SetEnvironment=no; done
is "$(lab run srun -n1 sh -c "$rank")" 'rank:' 'SetEnvironment=no'
is "$(lab run srun -n1 --muster=on sh -c "$rank")" 'rank:0' '... until the user says on'

done_testing
