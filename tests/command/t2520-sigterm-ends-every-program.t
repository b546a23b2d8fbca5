#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# SIGTERM ends each program during its longest work, with status 128 + 15; programs of the battery that
# have records exit with 3, and what they did not measure is unknown. A program that ignores SIGTERM would
# run for more than a minute.
. "$(dirname "$0")/command.sh"

server=
tap_cleanup() {
    exec 3>&-
    [ -z "$server" ] || kill "$server"
    rm -rf "$dir"
}
mpi_environment
cd "$dir" || exit
mkfifo empty
exec 3<>empty # a pipe without data and without end

# A controller that accepts connections and never answers: libslurm waits 9 s for it. A history that
# another process has locked: SQLite waits 10 s.
auth=$(find /usr/lib /usr/lib64 -name auth_none.so 2>/dev/null | head -n 1)
python3 - "$$" >ready <<'END' &
import ctypes, signal, socket, sqlite3, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL) # PR_SET_PDEATHSIG
history = sqlite3.connect("history.db", isolation_level=None)
history.execute("CREATE TABLE runs (run TEXT)")
history.execute("BEGIN EXCLUSIVE")
listener = socket.create_server(("127.0.0.1", 0), backlog=64)
print("port", listener.getsockname()[1], flush=True)
held = []
while True:
    held.append(listener.accept())
END
server=$!
within 60 grep -q port ready
cat >slurm.conf <<END
ClusterName=silent
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$(cut -d' ' -f2 ready)
AuthType=auth/none
CredType=cred/none
NodeName=n1 NodeAddr=127.0.0.1
PartitionName=all Nodes=n1 Default=YES
END
head -c 4000000 /dev/urandom >weights
printf '%s\n' "HistoryFile=$dir/history.db" BatteryUser=nobody >muster.conf
export SLURM_CONF=$dir/slurm.conf

long_step=(--layers=2 --heads=2 --channels=1024 --context=512 --vocab=64 --batch=8 --threads=1)
while IFS=: read -r expected under_way command; do
    # shellcheck disable=SC2086 # words
    read -ra words <<<"$command"
    program=${words[0]}
    if [ ! -x "$top_builddir/$program" ]; then
        ok "$command # SKIP not built" true
        continue
    fi
    blocked=()
    if [ "$under_way" = blocked ]; then # as the plugin starts it
        blocked=(python3 -c 'import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
os.execv(sys.argv[1], sys.argv[1:])')
        under_way=controller
    fi
    if [ "$under_way" = controller ]; then
        if [ -z "$auth" ] || [ "$(id -u)" -ne 0 ]; then
            ok "$command # SKIP no auth_none.so here, or not root" true
            continue
        fi
        under_way=-
    fi
    "${blocked[@]}" "$top_builddir/$program" "${words[@]:1}" >out 2>&1 <empty &
    pid=$!
    if [ "$under_way" = - ]; then
        sleep 0.5 # until the program is blocked in a read, or at work
    else
        within 300 grep -q "$under_way" out
    fi
    kill -TERM "$pid" 2>/dev/null
    ok "$command: has ended" within 60 eval '! kill -0 $pid'
    kill -KILL "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    like "$?" "^$expected\$" '... by the signal' || sed 's/^/# /' out
done <<END_OF_TABLE
143:-:muster-codec
143:-:muster-codec -d
143:-:muster report empty
143:-:muster compare empty
143:controller:muster certify --config=muster.conf --dry-run
143:controller:muster reserve --config=muster.conf
143:controller:muster revoke -w n1
143:controller:muster compare -w n1
143:blocked:muster preflight --config=muster.conf --step=1.0
143:-:muster history --config=muster.conf
143:-:muster history --config=muster.conf --campaigns
143:-:muster-codec --bench --seconds=60 weights
143:-:muster-train tokenize empty tokens
143:loss:muster-train --layers=1 --heads=1 --channels=8 --context=8 --vocab=64 --batch=1 --steps=100000000
143:parameters:muster-train ${long_step[*]} --steps=20
(3|143):-:muster-launch --inject=hang:0
(3|143):-:muster-links --inject=hang:0
(3|143):-:muster-collectives --inject=hang:0
(3|143):-:muster-preflight --inject=hang:0
END_OF_TABLE
done_testing
