#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A command in the guest has this machine's files, its directory and environment; what it prints, its
# exit status and what it leaves in the shared folder come back; and nothing outlives its time limit, a
# signal or a kill.
. "$(dirname "$0")/testguest.sh"

what_it_sees() {
    echo "$PWD $COLOUR $(uname -r) $MUSTER_GUEST"
    echo 'an error' >&2
    cat /usr/bin/bash >"$work/left"
    : 2>/dev/null >"$work/../gone-with-the-guest"
    exit 7
}
cd "$work" || exit
COLOUR='light "green"' in_guest what_it_sees
is "$output" "$work light \"green\" $(cat "$top/.lab/rdma/version") pair" \
    'the directory, the environment, another kernel, the topology'
is "$status" 7 '... the exit status'
is "$(cat "$work/err")" 'an error' '... standard error'
ok '... what it left in the shared folder' cmp "$work/left" /usr/bin/bash
not_ok '... and nothing elsewhere' test -e "$work/../gone-with-the-guest"

# Of two machines the first one listens; both write their results. If an acknowledgment is lost while one
# of them ends, the other one waits in vain, so both repeat until both have succeeded.
pingpong() {
    local words="-d rxe1 -g 0 -n 50" found=$work/machine$MUSTER_MACHINE
    [ "$MUSTER_MACHINE" = 1 ] || words+=' 10.77.0.1'
    until [ -e "$work/machine1" ] && [ -e "$work/machine2" ]; do
        # shellcheck disable=SC2086 # words
        timeout 20 ibv_rc_pingpong $words >"$found.new" 2>&1 && mv "$found.new" "$found"
        sleep 1
    done
}
in_guest pingpong --topology machines --time-limit 300
is "$status" 0 'two machines, joined by a cable: both end well'
gid() { sed -n "s/^ *$1 address:.* GID //p" "$work/machine$2"; }
is "$(gid remote 1) $(gid remote 2)" "$(gid local 2) $(gid local 1)" '... talked by verbs, each with the other'
is "$(cat "$work/machine1" "$work/machine2" | grep -c '^50 iters in ')" 2 '... all 50 iterations each'

mkdir "$work/tmp"
export TMPDIR=$work/tmp
folders() { find "$TMPDIR" -maxdepth 1 -name 'muster-guest.*' | sort; }
emulators() { pgrep -f "mount_tag=share.*$work|path=$work,mount_tag=share"; }
have_gone() { ! emulators; }
gone() { within 60 have_gone; }
started() { within 60 emulators; }
guest --time-limit 2 sleep 60 2>"$work/err"
is $? 124 'a command past its time limit is ended'
like "$(cat "$work/err")" '^guest: the time limit of 2 s was reached$' '... and the output says so'
ok '... with its emulator' gone

# a shell's background commands ignore an interrupt
env --default-signal=INT "$rdma_dir/guest" --share "$work" sleep 60 2>/dev/null &
pid=$!
ok 'another command' started
kill -INT $pid
wait $pid
is $? 130 '... ends when it is interrupted'
ok '... with its emulator' gone
is "$(folders)" '' '... and leaves no folder behind'

"$rdma_dir/guest" --share "$work" sleep 60 2>/dev/null &
pid=$!
ok 'a third command' started
kill -KILL $pid
wait $pid 2>/dev/null
ok '... is killed, and its emulator with it' gone

bad() { # WORDS ARGUMENT...
    local words=$1 out
    shift
    out=$("$rdma_dir/guest" "$@" 2>&1)
    is $? 2 "usage: $*"
    like "$out" "^guest: $words, see guest --help\$" '... and the output says so'
}
bad "the topology is one of pair, rails, numa, machines, none, not 'star'" --topology star true
bad "--time-limit takes a number from 1 to 3600, not '0'" --time-limit 0 true
bad "--memory takes a number from 192 to 65536, not '1G'" --memory 1G true
bad "--share takes a directory, not '/nowhere'" --share /nowhere true
bad "unknown option '--fast'" --fast true
bad 'there is no command to run' --repeatable
bad '--topology needs a value' --topology
done_testing
