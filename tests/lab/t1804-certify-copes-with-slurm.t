#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A prolog that fails or hangs, a program of the battery whose first rank dies during its run, a
# controller that is down, one that dies so that the backup takes over, a canceled job of the battery,
# a gate that refuses nodes without a certificate, unknown names:
# each has its verdict or its message.
lab_options=(--backup-controller)
. "$(dirname "$0")/certify.sh"
. "$(dirname "$0")/madeup.sh"

prolog() { # SHELL-COMMAND
    printf '#!/bin/sh\n%s\n' "$1" >"$work/prolog.new"
    chmod +x "$work/prolog.new"
    mv "$work/prolog.new" "$work/prolog"
}

is "$(certificates)" '' 'no node has a certificate'
for node in n1 n2 n3 n4; do
    conf_add $node OnMissing=refuse GateBrake=off
done
# The first controller dies during the run, with jobs that it has not saved yet.
certify_until '^estimate for'
lab run pkill -KILL -x slurmctld
wait $pid
is "$(verdicts)" 'n1 pass n2 pass n3 pass n4 pass' \
    'nodes whose gate refuses jobs without a certificate are certified, under two controllers' || show
is "$(states)" 'n1 idle n2 idle n3 idle n4 idle' '... and nobody is drained'
ok '... and nothing is left' within 60 nothing_left

made_up_battery # enough to test prologs
prolog ": >$work/prolog.\$(hostname)"
slurm_conf_add "Prolog=$work/prolog"
all_run_it() { lab run srun -Q -N4 true && [ "$(compgen -G "$work/prolog.n?" | wc -l)" = 4 ]; }
within 60 all_run_it # slurmctld does not wait for each slurmd to read its configuration
within 60 no_jobs
# shellcheck disable=SC2016 # the shell of the prolog expands it
prolog '[ "$(hostname)" != n2 ]'
certify
is "$status $(verdicts)" '1 n1 pass n2 fail n3 pass n4 pass' 'a prolog that fails on one node' || show
like "$(failures_of n2)" '^slurm.state prolog: drained by Slurm: Prolog error' 'is named as the cause'
is "$(reason n2)" 'Prolog error' "and Slurm's drain is left as it is"
resume n2

# shellcheck disable=SC2016
prolog '[ "$(hostname)" != n3 ] || exec sleep 600'
certify
is "$status $(verdicts)" '3 n1 pass n2 pass n3 unknown n4 pass' 'a prolog that hangs on one node' ||
    show
like "$output" 'n3 .*check its prolog' 'is named, and no node fails'
prolog true
lab on n3 pkill -f 'sleep 600'
within 60 no_jobs
# Slurm drains a node whose prolog was killed, and drains it again every 15 s while slurmd repeats its report.
# After TERM slurmd would wait minutes for that
end_slurmd n3 KILL
begin_slurmd n3
resumed() { resume "$1" 2>/dev/null; [ "$(sinfo_nodes -n "$1" -o %T)" = idle ]; } # NODE
within 60 resumed n3
muster=$real_muster
# as if no argument could hold the nodes' names
MUSTER_ARGUMENT_BYTES=5 certify
is "$status" 0 'without the prolog all is well, also with lists that are too long for arguments' || show

mkdir "$work/dying"
cp "$muster" "$work/dying/muster"
for program in launch collectives train; do
    ln -s "$top/.lab/prefix/bin/muster-$program" "$work/dying/"
done
printf '#!/bin/sh\nexec %s "$@" --inject "die:0@links pairs round 2"\n' "$top/.lab/prefix/bin/muster-links" \
    >"$work/dying/muster-links"
chmod +x "$work/dying/muster-links"
muster=$work/dying/muster
certify -w n1,n2,n4
is "$status $(verdicts)" '3 n1 unknown n2 unknown n4 unknown' \
    'the first rank dies after the first records: nobody is certified' || show
like "$(jq -r 'select(.verdict == "unknown" and .node == "n1") | .message' "$work/records")" 'rank 0, which reports for all ranks, ended early' '... and the output says why' || show
muster=$real_muster

# The missing part of a node's check does not count against the node.
cat >"$work/cut" <<END
#!/bin/bash
[ "\$1" = check ] || exec "$work/muster-whole" "\$@"
"$work/muster-whole" "\$@" | sed '/"metric":"carrier"/,\$d'
END
chmod +x "$work/cut"
cp "$muster" "$work/muster-whole"
lab on n2 mount --bind "$work/cut" "$muster"
certify -w n1,n2,n4
lab on n2 umount "$muster"
is "$status $(verdicts)" '3 n1 pass n2 unknown n4 pass' 'a check whose output is cut off: its node is not certified, nor at fault' || show
like "$output" '^n2 .*muster check did not complete' '... and the output says so' || show

# Somebody cancels the battery's job during the run.
certify_until '^estimate for' -w n1,n2
lab run scancel --user=muster
wait $pid
is "$(verdicts) $(states)" 'n1 unknown n2 unknown n1 idle n2 idle n3 idle n4 idle' \
    'a job that is canceled during the run: nobody is certified, nobody is drained' || show
like "$(cat "$work/output")" 'job [0-9]+ was canceled, or ended by Slurm, before the tests finished' '... and the output says why' || show
ok '... and nothing is left' within 60 nothing_left

certify --mpi none -w n1,n2
is "$status $(verdicts)" '3 n1 unknown n2 unknown' 'MPI that does not start under this srun' || show
like "$output" "check that srun's --mpi, or MpiDefault of slurm.conf, matches its MPI" '... the output suggests to check --mpi' || show
slurm_conf_add DisableRootJobs=YES
certify -w n1,n2
is "$status" 3 "root's jobs are refused" || show
like "$output" 'Invalid user id; DisableRootJobs in slurm.conf must be no' '... and the output names DisableRootJobs' || show
slurm_conf_add DisableRootJobs=NO

# n2 reports records of n1, and endless ones of itself; somebody's reason has control characters of a terminal.
muster=$made_up_muster
cp "$muster" "$work/muster"
{
    echo '#!/bin/sh'
    echo 'printf '"'"'{"suite":"check","test":"net.link","node":"n1","part":"eth1","verdict":"fail","message":"injected"}\n'"'"
    echo "[ \"\$1\" != check ] || yes '{\"suite\":\"check\",\"test\":\"x\",\"node\":\"n2\"}' | head -n 20000"
    echo "exec '$work/muster' \"\$@\""
} >"$work/liar"
chmod +x "$work/liar"
lab on n2 mount --bind "$work/liar" "$muster"
lab run scontrol update nodename=n3 state=drain "$(printf 'reason=\033[2Jgone\302\233')"
certify
lab on n2 umount "$muster"
muster=$real_muster
resume n3
like "$(verdicts)" '^n1 pass n2 (pass|unknown) n4 pass$' 'what n2 says of n1 does not count' || show
like "$output" '^n2: [0-9]+ records ignored, the first: about n1; ' '... and the output says so' || show
ok 'and only a bounded number of its own does' test "$(grep -c '"test":"x"' "$work/records")" -lt 10000
like "$output" '^n3: .*\?\[2Jgone' 'a reason is printed without control characters' || show
unlike "$(cat "$work/output")" $'\033' '... as is all output'

certify -w n1,n9
is "$status $output" '2 muster certify: no node n9 in this cluster' 'an unknown node'
certify -p none
is "$status $output" '2 muster certify: no partition none in this cluster' 'an unknown partition'
certify -w 'n[1'
is "$status" 2 'an invalid list'
certify --level fast
is "$status" 2 'an unknown level'
status=0
lab run env SLURM_CLUSTERS=east "$muster" certify >"$work/output" 2>&1 || status=$?
is "$status $(tail -n 1 "$work/output" | cut -d, -f1)" \
    "3 muster certify: SLURM_CLUSTERS is 'east'" 'SLURM_CLUSTERS names another cluster'
status=0
lab run setpriv --reuid=nobody --clear-groups "$muster" certify >"$work/output" 2>&1 || status=$?
is "$status" 2 'not root: refused'
like "$(cat "$work/output")" '--dry-run does not' 'except for a dry run'
status=0
lab run setpriv --reuid=nobody --clear-groups "$muster" certify -n -w n1,n2 >"$work/output" 2>&1 ||
    status=$?
is "$status $(grep -c . "$work/output")" "0 $(grep -c . "$work/output")" 'a dry run runs' || show

# munged of the host that runs certify ends during the run: no node is at fault for that
without_munge() { # STAGE VERDICTS STATE-OF-N3: kills munged once STAGE is over
    certify_until "^  $1 "
    lab run pkill -KILL -x munged
    wait $pid
    lab heal >/dev/null
    is "$(verdicts)" "$2" "without MUNGE of the head after $1" || show
    like "$(cat "$work/output")" 'MUNGE is not running on this host .*; next: systemctl start munge' '... and the output says why' || show
    ok '... nothing is left once it is back' within 120 nothing_left
    like "$(states)" "^n1 idle n2 idle n3 $3 n4 idle$" '... and no good node is drained'
}

if [ -n "${MUSTER_LONG-}" ]; then
    without_munge check 'n1 unknown n2 unknown n3 unknown n4 unknown' idle
    without_munge launch 'n1 unknown n2 unknown n3 unknown n4 unknown' idle
    lab fault wrong-mtu n3 eth1 >/dev/null
    without_munge collectives 'n1 unknown n2 unknown n3 fail n4 unknown' '(idle|drained)' # n3 may have been drained before
    like "$(cat "$work/output")" '^certificates on unreachable nodes stay valid' \
        '... and the output says that a failed node keeps its certificate for now'
    like "$(lab run scontrol show node n3)" 'Comment=.*certificates issued until .* are revoked' \
        '... which is revoked in Slurm'
fi

lab on backup pkill -x slurmctld
within 60 no_process backup -x slurmctld
certify
is "$status" 3 'no controller: unknown'
like "$output" 'Unable to contact slurm controller' 'and the output says so'
is "$(journals)$(processes)" '' 'and nothing is left'
done_testing
