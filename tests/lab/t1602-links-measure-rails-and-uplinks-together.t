#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster-links: all rails of a pair at once, uplinks and bisection, in few rounds, within its budget.
. "$(dirname "$0")/battery.sh"

blocks='leaf1=n[1-2];leaf2=n[3-4]'

good_rails() { record_fields '.metric == "bandwidth_together" and 150 <= .value <= 205' .node .part | sort -u | wc -l; }
low_sums='.metric in ("bandwidth_uplink", "bandwidth_bisection") and not .node and .value <= 200'
are_measured() { [ "$(good_rails)" = 8 ] && [ -z "$(record_fields "$low_sums" .part)" ]; }
battery_until are_measured 1 muster-links --passes together,uplinks,bisection --blocks "$blocks"
is "$status" 0 'three passes on a healthy fabric'
is "$stderr_text" '' '... with nothing on standard error'
valid '...'
is "$(record_fields '.metric == "rounds"' .part .value .limit)" $'together 3 3\nuplinks 1 1\nbisection 1 1' \
    '... the rounds of each'
like "$(record_fields '.metric == "rounds"' .message | sed -n 1p)" '^3 of 3 rounds in [0-9.]+ s, [0-9.]+ s of the limit of 60 s left$' \
    '... and the time they took'
is "$(record_fields '.metric == "bandwidth_together"' .node .part .peer | sort -u | wc -l)" 16 \
    'together: four pairs, each rail and direction'
# A busy machine lowers figures and never raises them: takes the best of each rail.
is "$(good_rails)" 8 '... each rail as fast as alone'
is "$(record_fields '.metric == "bandwidth_together" and .value > 210' .node .part .value)" '' '... none faster'
is "$(record_fields '.metric == "bandwidth_uplink" and not .node' .part .samples)" \
    $'uplink leaf1-leaf2 4\nuplink leaf2-leaf1 4' 'uplinks: the sum of four flows each way'
is "$(record_fields '.metric == "bandwidth_uplink" and not .node and not 200 < .value <= 406' .part .value)" \
    '' '... is above the 200 Mb/s of a rail and at most the 400 of the uplink, although the rails have 800'
is "$(record_fields '.metric == "bandwidth_uplink" and .node' .node .part .peer | wc -l)" 8 '... with its flows'
is "$(record_fields '.metric == "bandwidth_bisection" and not .node and not 200 < .value <= 406' .part .value)" \
    '' 'bisection: the sum of half of the nodes to the others'

# Prints the load of a run on the uplinks, which jobs use too, from the counters of both switches' ports:
# the highest rate of both directions together over a quarter of a second, in Mb/s.
peak_mbps() {
    ip netns exec "muster-$name-fabric" python3 - "$work/stop" <<'END'
import os, sys, time
def read(): # a reading that other processes interrupted is repeated
    while True:
        begin = time.monotonic()
        sent = sum(int(open(f"/sys/class/net/uplink{end}/statistics/tx_bytes").read()) for end in (1, 2))
        if time.monotonic() - begin < 0.003:
            return begin, sent
window, peak = [read()], 0
while not os.path.exists(sys.argv[1]):
    time.sleep(0.025)
    window = (window + [read()])[-11:]
    if len(window) == 11:
        peak = max(peak, (window[-1][1] - window[0][1]) * 8e-6 / (window[-1][0] - window[0][0]))
print(round(peak))
END
}

across_uplink() { # OPTION...
    rm -f "$work/stop"
    peak_mbps >"$work/peak" &
    battery 1 muster-links --quick --passes pairs "$@"
    touch "$work/stop"
    wait $!
    peak=$(cat "$work/peak")
}

across_uplink
ok "no leaf is known: the uplinks carry $peak Mb/s, more than a pair's 200" test "$peak" -gt 240
across_uplink --blocks "${blocks//;/:1;}:1"
is "$status" 0 'one pair at a time across each uplink: all is measured'
is "$(record_fields '.metric == "bandwidth" and .value >= 150' .node .part | sort -u | wc -l)" 8 \
    '... each rail at its full speed'
ok "... and the uplinks carry no more than a pair does: $peak Mb/s" \
    test "$peak" -gt 100 -a "$peak" -le 220

battery 1 muster-links --quick --passes pairs,together --rounds 1
is "$(record_fields '.metric == "rounds"' .part .limit)" $'pairs 1\ntogether 1' '--rounds holds for each pass'
battery 1 muster-links --quick --passes uplinks
is "$status $(record_fields '.verdict == "unknown"' .metric)" '3 complete' 'uplinks without blocks are unknown'
like "$records" 'uplinks: .*blocks .* are not known' '... and it says why'
battery 1 muster-links --blocks 'a=n1;b=n1'
is "$status" 2 'a node in two blocks is a usage error'
like "$stderr_text" 'option --blocks: node n1 is in two blocks' '... that names the node'
battery 1 muster-links --passes pairs,rails
is "$status" 2 'an unknown pass is a usage error'
like "$stderr_text" 'option --passes: expected some of pairs, together, .*"pairs,rails"' '... that names it'
done_testing
