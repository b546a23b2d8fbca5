#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster top shows the progress that a run has written, while the run holds the lock of its file.
. "$(dirname "$0")/command.sh"
needs muster
command -v flock >/dev/null || skip_all 'there is no flock'
holders=()
tap_cleanup() {
    [ ${#holders[@]} -eq 0 ] || kill "${holders[@]}" 2>/dev/null
    rm -r "$dir"
}
live=$dir/run/muster/live

text=$("$muster" top -r "$dir" 2>&1)
is "$? $text" '0 no run of muster certify on this host' 'without a run it reports that'
text=$("$muster" top -r "$dir/gone" 2>&1)
is "$? $text" "3 muster top: $dir/gone: No such file or directory" 'a missing root is an error'
mkdir -p "$live"
printf '%s\n' '{"event":"text","time":1,"text":"an old run"}' >"$live/old"
is "$("$muster" top -r "$dir" --once 2>&1)" 'no run of muster certify on this host' 'a file that no process holds is not a run'

now=$(date +%s)
cat >"$live/r1" <<END
{"event":"text","time":$now,"text":"certifying 4 nodes"}
{"event":"begin","time":$now,"stage":"reach"}
{"event":"end","time":$now,"stage":"reach","seconds":1.04,"text":"4 of 4 good"}
{"event":"node","time":$now,"stage":"check","node":"n3","verdict":"fail","text":"eth1 no link"}
this is no event
{"event":"nothing","time":$now}
{"event":"node","time":$now,"verdict":"splendid","text":"never"}
{"event":"begin","time":$now,"stage":"links"}
{"event":"doing","time":$now,"stage":"links","text":"14 of 30 rounds\u001b[2J"}
END
printf '{"event":"text","time":1,"te' >>"$live/r1"
mkfifo "$dir/hold"
flock "$live/r1" cat "$dir/hold" >/dev/null &
holders+=($!)
exec 3>"$dir/hold" # cat has begun, so the lock is held
is "$("$muster" top -r "$dir" --once | sed 's/ *[0-9.]* s  / /')" 'certifying 4 nodes
  reach 4 of 4 good
    n3  fail  check: eth1 no link
  links 14 of 30 rounds?[2J' 'stages so far, the faulty node and the current work are shown, without control characters'

# five runs that end at the same time, and the first one
mkfifo "$dir/five"
(
    for i in 1 2 3 4 5; do exec {run}>"$live/five$i" && flock "$run"; done
    exec cat "$dir/five" >/dev/null
) 3>&- &
holders+=($!)
exec 4>"$dir/five"
"$muster" top -r "$dir" >/dev/null 2>&1 3>&- 4>&- &
looking=$!
holders+=("$looking")
follows() { [ "$(find "/proc/$looking/fd" -lname "$live/*" | wc -l)" = "$1" ]; }
ok 'runs are followed' within 60 follows 6
exec 4>&-
ok '... three of the ended ones stay open' within 60 follows 4

(trap '' HUP && exec "$muster" top -r "$dir") >"$dir/said" 2>&1 3>&- & # as below nohup
looking=$!
holders+=("$looking")
within 60 grep -q 'n3  fail' "$dir/said"
kill -HUP "$looking"
printf 'xt":"written in two parts"}\n' >>"$live/r1"
exec 3>&-
wait "$looking"
is $? 0 'without a terminal it ends with the run'
is "$(grep -vc '^  reach' "$dir/said") $(tail -n 1 "$dir/said")" '3 written in two parts' \
    '... with a line for each event, until the last, although its terminal is gone'
text=$("$muster" top --json --once 2>&1)
is "$? $text" '2 muster top: --json and --once are mutually exclusive
muster top --help lists the options' '--json and --once together are a usage error'
mkdir -p "$dir/other/run/muster"
touch "$dir/other/run/muster/live"
text=$("$muster" top -r "$dir/other" 2>&1)
is "$? $text" "3 muster top: $dir/other/run/muster/live: Not a directory" 'a path that is not a directory is named'
done_testing
