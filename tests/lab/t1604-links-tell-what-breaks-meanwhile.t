#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster-links: two nodes that stop reaching each other, and a rail that dies in a stream, are reported
# as such; unknown clients at its ports change nothing.
. "$(dirname "$0")/battery.sh"

during() { # COMMAND...: runs it once the first round has begun
    within 100 grep -q 'of [0-9]* rounds' "$work/stderr" && sleep 1 && "$@"
}
for rail in 0 1 2; do routes+="route add blackhole $(address n3 $rail)/32"$'\n'; done
cut() { # cuts n2 off from n3, on all networks
    lab on n2 ip -batch - <<<"$routes"
}
export MUSTER_PROGRESS=1

: >"$work/stderr"
during cut &
battery 1 muster-links --passes pairs --pairs n1:n2,n1:n4,n2:n3
wait
is "$status" 1 'a pair that cannot connect is no pass'
valid '...'
is "$(record_fields '.verdict == "fail"' .metric .node .part .peer)" 'state n2 None n3' \
    '... both are named, and nobody else'
like "$(record_fields '.metric == "state"' .message)" '^n2 and n3 cannot reach each other by TCP' '... it says why'
ok 'heal' lab on n2 ip route flush type blackhole

: >"$work/stderr"
during lab on n1 ip link set eth1 down &
battery 1 muster-links --passes together --pairs n1:n2 --rails eth1 --repeats 60 --time-limit 18
wait
is "$(record_fields '.verdict == "fail"' .test .metric .node .part .peer)" \
    $'links bandwidth_together n1 eth1 n2\nlinks bandwidth_together n2 eth1 n1' \
    'a rail that dies in a stream fails, and its nodes are not taken for hung'
is "$(record_fields '.metric == "carrier_changes"' .node .part .value)" 'n1 eth1 1' \
    '... the carrier changes of its interface are reported once'
ok 'heal' lab on n1 ip link set eth1 up
unset MUSTER_PROGRESS

# Connects unknown clients to every port that the programs listen at: those of an ordinary user on n4, which
# takes no part, and on n2, whose address belongs to the run.
cat >"$work/ports.py" <<'END'
# PROGRAM [NOISE ADDRESS...]: prints each TCP port that its processes listen at, until they have ended. Leaves
# out those inherited from slurmstepd, at which nobody accepts after MPI_Init; slurmstepd is examined after
# them, because it starts before each of them and lives as long. Prints on standard error "looks", then the
# ports at which they have accepted a connection from ADDRESS and kept it for five seconds. Until MPI_Init is
# over, which the first progress in the file NOISE shows, MPI keeps connections that it has accepted.
import os, socket, struct, sys, time
program, told, was_there, is_there = sys.argv[1].encode(), set(), False, True
outside = {"%08X" % struct.unpack("<I", socket.inet_aton(address)) for address in sys.argv[3:]}
accepted = {} # when each was first seen; None once it is printed
is_past_init = False
begin = time.monotonic()
print("looks", file=sys.stderr, flush=True)
def sockets(pid):
    found = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            found.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
        except OSError: # closed meanwhile
            pass
    return found
def processes(file, begin):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if open(f"/proc/{pid}/{file}", "rb").read().startswith(begin):
                yield pid
        except OSError: # gone
            pass
while is_there or (not was_there and time.monotonic() < begin + 60):
    is_there, listening, inherited = False, {}, set()
    if outside and not is_past_init:
        is_past_init = "muster-progress" in open(sys.argv[2]).read()
    for pid in processes("cmdline", program + b"\0"):
        is_there = was_there = True
        try:
            own = sockets(pid)
            for name in ("tcp", "tcp6"):
                for line in open(f"/proc/{pid}/net/{name}").readlines()[1:]:
                    field = line.split()
                    name = f"socket:[{field[9]}]"
                    if name not in own: # another process's, or not accepted yet
                        continue
                    port = int(field[1].split(":")[1], 16)
                    if field[3] == "0A":
                        listening[port] = name
                    elif is_past_init and field[3] == "01" and field[2].split(":")[0][-8:] in outside:
                        since = accepted.setdefault(name, time.monotonic())
                        if since and time.monotonic() > since + 5:
                            print("port", port, file=sys.stderr)
                            accepted[name] = None
        except OSError:
            pass
    for pid in processes("comm", b"slurmstepd"):
        try:
            inherited |= sockets(pid)
        except OSError:
            pass
    for port in listening:
        if listening[port] not in inherited and port not in told:
            told.add(port)
            print(port, flush=True)
    time.sleep(0.1)
END
cat >"$work/client.py" <<'END'
# COUNT GARBAGE ADDRESS...: makes COUNT connections to each port on standard input at each address; every
# other one sends GARBAGE bytes. Prints how many were made, were not answered, and were closed before the
# program ended. The rest may wait in the queue of a port: a rank does not accept while it measures another
# rail or waits for its turn, nor does MPI while nobody calls it. Prints "waits" on standard error when it
# waits for ports.
import os, select, socket, sys, time
count, garbage, addresses = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
poll, ends, text, made, closed = select.epoll(), {}, b"", 0, []
poll.register(0)
print("waits", file=sys.stderr, flush=True)
over = None # when the program ended; connections that are under way then are still answered
while over is None or (time.monotonic() < over + 5 and any(end[1] is not None for end in ends.values())):
    for fd, _ in poll.poll(1):
        if fd == 0:
            some = os.read(0, 4096)
            if not some:
                over = time.monotonic()
                poll.unregister(0)
            *ports, text = (text + some).split(b"\n")
            for address, port in [(address, port) for port in ports for address in addresses]:
                for number in range(count):
                    end = socket.socket()
                    end.setblocking(False)
                    end.connect_ex((address, int(port)))
                    ends[end.fileno()] = end, number % 2 * garbage
                    poll.register(end, select.EPOLLOUT | select.EPOLLONESHOT)
        elif ends[fd][1] is None: # the other end is closed
            closed.append(time.monotonic())
        elif ends[fd][0].getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0:
            made += 1
            try:
                ends[fd][0].send(os.urandom(ends[fd][1]))
            except OSError: # closed already
                pass
            ends[fd] = ends[fd][0], None
            poll.modify(fd, select.EPOLLIN | select.EPOLLONESHOT)
        else: # refused: the program does not listen at this address
            ends.pop(fd)[0].close()
print("made", made, "unanswered", len(ends) - made, "closed", sum(when < over - 0.2 for when in closed))
END
addresses=$(for node in n1 n2 n3; do for rail in 0 1 2; do address $node $rail; done; done)
outside=$(for rail in 0 1 2; do address n4 $rail; done | xargs)
three() { # PROGRAM OPTION...: on n1, n2 and n3
    local program=$1 begin=$EPOCHREALTIME
    shift
    status=0
    MUSTER_PROGRESS=1 as_muster timeout 200 srun -N3 -w 'n[1-3]' \
        "$work/$program" --json "$@" >"$work/records" 2>"$work/stderr" </dev/null || status=$?
    seconds=$(awk "BEGIN { print $EPOCHREALTIME - $begin }")
}
unknown_client() { # NODE COUNT GARBAGE PROGRAM COMMAND...: for a program that starts next; they connect after COMMAND
    local watched=()
    # shellcheck disable=SC2206
    [ "$1" != n4 ] || watched=("$work/stderr" $outside)
    : >"$work/kept.$1"
    : >"$work/waits.$1"
    python3 "$work/ports.py" "$work/$4" "${watched[@]}" 2>"$work/kept.$1" | { "${@:5}" && cat; } |
        lab on "$1" setpriv --reuid=65534 --regid=65534 --clear-groups \
            python3 -c "$(cat "$work/client.py")" "$2" "$3" $addresses >"$work/client.$1" 2>"$work/waits.$1" &
    within 60 grep -q waits "$work/waits.$1"
    within 60 grep -q looks "$work/kept.$1"
}
past_init() { within 60 grep -q muster-progress "$work/stderr"; }
are_closed() { # PROGRAM: checks the clients on n4
    like "$(cat "$work/client.n4")" '^made [1-9][0-9]+ unanswered 0 closed [1-9][0-9]*$' \
        'unknown clients on another node: their connections are closed'
    is "$(cat "$work/kept.n4")" looks '... and none is kept at any port'
    like "$(cat "$work/stderr")" "$1: n[123]: [0-9]+ connections from outside this run's nodes closed \\(first: (${outside// /|})\\)" \
        '... and the program says so'
}
unknown_clients_change_nothing() { # GARBAGE PROGRAM OPTION...
    local garbage=$1 quiet_s
    shift
    three "$@"
    is "$status" 0 "$1: passes on three nodes"
    quiet_s=$seconds
    : >"$work/stderr"
    unknown_client n4 10 "$garbage" "$1" true # during MPI_Init as well
    unknown_client n2 100 0 "$1" past_init
    three "$@"
    wait
    is "$status" 0 '... with unknown clients at every port, too'
    is "$(record_fields '.verdict not in ("pass", None)' .message)" '' '... and each verdict is pass'
    valid '...'
    within_s "$(awk "BEGIN { print 2 * $quiet_s + 6 }")" "... nor takes much longer than $quiet_s s"
    like "$(cat "$work/client.n2")" '^made [1-9][0-9]+ unanswered 0 ' \
        '... clients on a node of the run connected'
    are_closed "$1"
}
unknown_clients_change_nothing 1000 muster-links --quick
unknown_clients_change_nothing 0 muster-collectives --quick

: >"$work/stderr"
unknown_client n4 10 1000 muster-launch true # during MPI_Init as well: it takes a second in all
SLURM_NTASKS_PER_NODE=6 three muster-launch # a single rank a node is done within a second
wait
is "$status" 0 'muster-launch: passes with unknown clients at every port from its start'
are_closed muster-launch

# Simulates a driver that queries its NIC once a second.
late=$work/tx_bytes
lab on n3 cat /sys/class/net/eth1/statistics/tx_bytes >"$late"
lab on n3 mount --bind "$late" /sys/class/net/eth1/statistics/tx_bytes
# shellcheck disable=SC2016 # for the node's shell
lab on n3 bash -c 'until [ -e "$1.over" ]; do
    sleep 1
    awk "\$1 == \"eth1:\" { print \$10 }" /proc/net/dev >"$1"
done' late "$late" &
battery 1 muster-links --quick --pairs n3:n4 --rails eth1 --repeats 1
is "$(record_fields '.metric == "path"' .node .verdict | sort)" $'n3 pass\nn4 pass' \
    'an interface that counts late did carry the data' || sed 's/^/# /' "$work/stderr" "$work/records"
is "$(record_fields '.metric == "bandwidth_received"' .node .peer | sort)" $'n3 n4\nn4 n3' \
    '... and the receiver reports a single sample, too'
: >"$late.over"
wait
battery 1 muster-links --quick --pairs n3:n4 --rails eth1
is "$(record_fields '.metric == "path"' .node .verdict | sort)" $'n3 fail\nn4 pass' \
    'one that does not count at all did not carry it' || sed 's/^/# /' "$work/stderr" "$work/records"
done_testing
