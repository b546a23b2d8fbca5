#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The examples for Prometheus and Grafana: promtool shows on given series that each alert of
# etc/muster.rules.yml fires, and when not; rules and dashboard use only metrics and labels that muster
# writes.
. "$(dirname "$0")/command.sh"

rules=$top_srcdir/etc/muster.rules.yml
dashboard=$top_srcdir/etc/grafana-dashboard.json
given=$top_srcdir/tests/fixtures/prometheus/muster.rules.test.yml
needs muster
command -v jq >/dev/null || skip_all 'no jq'
command -v python3 >/dev/null || skip_all 'no python3 to make up a run'

# --- the series that muster writes: "muster_node_verdict node verdict", one per line
echo "HistoryFile=$dir/history.db" >"$dir/muster.conf"
"$top_srcdir/tests/report/synthetic-run" 6 --per-leaf 3 --fault slow-rail:n3:eth1 --fault unknown:n5 |
    "$muster" report -c "$dir/muster.conf" -f prometheus - >"$dir/muster.prom"
# series with their labels, without those that Prometheus adds
shapes() {
    sed -nE 's/^([a-z_]+)(\{(.*)\})? .*/\1,\3/p' | sed -E 's/="([^"\\]|\\.)*"//g; s/, */ /g; s/\<(job|instance) ?//g; s/ +$//' | sort -u
}
shapes <"$dir/muster.prom" >"$dir/written"
cut -d' ' -f1 "$dir/written" >"$dir/metrics"
{ cut -d' ' -sf2- "$dir/written" | tr ' ' '\n' && printf '%s\n' job instance; } | sort -u >"$dir/labels"
is "$(grep -oE '"muster_[a-z_]+"' "$top_srcdir/validate/report/prometheus.c" | tr -d '"' | sort -u)" \
    "$(sort -u "$dir/metrics")" 'a run that has every metric'

# --- expressions, one per line
jq -r '.panels[].targets[].expr' "$dashboard" >"$dir/queries"
jq -r '.panels[].targets[].legendFormat // empty' "$dashboard" >"$dir/legends"
jq -r '.templating.list[] | select(.type == "query").query' "$dashboard" >"$dir/variables"
sed '/^ *#/d; /annotations:/,/^$/d' "$rules" >"$dir/expressions"
metrics_of() { grep -ohE '[a-z_:]*muster_[a-z_:]+' "$@" | sort -u; }
recorded=$(sed -n 's/^ *- record: //p' "$rules")
is "$(metrics_of "$dir/expressions" | grep -v : | grep -vxFf "$dir/metrics")" '' \
    'the rules use only metrics that muster writes'
is "$(metrics_of "$dir/expressions" | grep : | grep -vxF "$recorded")" '' '... or that they record themselves'
is "$(metrics_of "$dir/queries" "$dir/variables" | grep -vxFf "$dir/metrics")" '' \
    'the dashboard uses only metrics that muster writes'
isnt "$(metrics_of "$dir/queries")" '' '... and at least one'
# labels in {}, in (...) after by, without, on and group_left, and in texts
labels_of() {
    {
        grep -ohE '\b(by|without|on|group_left) \([a-z_, ]*\)' "$@" | sed 's/.*(//'
        grep -ohE '\{[a-z_]+ *[=!][^}]*\}' "$@" | grep -oE '[a-z_]+ *(=~|!~|!=|=)"' | tr -d '=~!" '
        grep -ohE '\$labels\.[a-z_]+' "$@" | cut -d. -f2
        grep -ohE '\{\{[a-z_]+\}\}' "$@"
    } | tr -s ',(){} ' '\n' | grep . | sort -u
}
is "$(labels_of <(grep -v '^ *#' "$rules") | grep -vxFf "$dir/labels")" '' 'the rules use only labels that muster writes'
is "$(labels_of "$dir/queries" "$dir/legends" | grep -vxFf "$dir/labels")" '' '... and so does the dashboard'
is "$(jq -r '.panels[].transformations[]?.options | (.excludeByName, .indexByName, .renameByName) // {} | keys[]' \
    "$dashboard" | grep -vxE 'Time|Value' | grep -vxFf "$dir/labels")" '' '... also in columns of its tables'
# verdicts are label values
is "$(grep -ohE 'verdict=~?"[a-z|]+"' "$rules" "$dir/queries" | cut -d'"' -f2 | tr '|' '\n' | sort -u |
    grep -vxFf <(grep -oE 'verdict="[a-z]+"' "$dir/muster.prom" | cut -d'"' -f2))" '' 'verdicts are those of muster'
sed -n "s/.*series: '\([^']*\)'.*/\1 1/p" "$given" | shapes >"$dir/given"
isnt "$(cat "$dir/given")" '' 'there are series for the rules'
is "$(grep -vxFf "$dir/written" "$dir/given")" '' '... have metrics and labels as muster writes them'

# --- the dashboard
is "$(jq -r '.panels | length == (map(.id) | unique | length)' "$dashboard")" true 'each panel has its own ID'
is "$(jq -r '[.panels[], .templating.list[] | .datasource.uid // empty] | unique | join(" ")' "$dashboard")" \
    "\${datasource}" 'the data source is chosen on the page'
is "$(jq -r 'keys[] | select(. == "id" or . == "uid" or . == "__inputs")' "$dashboard")" '' \
    '... and the dashboard has no ID of a server'

# --- alerts
alerts=$(sed -n 's/^ *- alert: //p' "$rules")
for alert in $alerts; do
    ok "$alert fires in a case" grep -qx " *alertname: $alert" "$given"
    ok '... and does not in another' grep -qE "\{eval_time: [0-9]+[hd], alertname: $alert\}" "$given"
    is "$(awk -v alert="$alert" '/- alert:/ { on = $3 == alert } on && /^ +(severity|summary|description):/ { print $1 }' \
        "$rules" | xargs)" 'severity: summary: description:' '... has a severity and says what to do'
done

if command -v promtool >/dev/null; then
    ok 'promtool accepts the rules' promtool check rules "$rules"
    sed "s|^rule_files:.*|rule_files: ['$rules']|" "$given" >"$dir/test.yml"
    ok '... and each fires in its cases only' promtool test rules "$dir/test.yml"
    # ... with the metrics of that run, for all hosts
    jq -nR --slurpfile dashboard "$dashboard" '{evaluation_interval: "1m", tests: [{
        interval: "1m",
        input_series: [inputs | select(startswith("#") | not) |
            capture("^(?<name>[a-z_]+)([{](?<labels>.*)[}])? (?<value>.*)$") |
            {series: "\(.name){job=\"node\", instance=\"head\", \(.labels // "")}", values: "\(.value)x3"}],
        promql_expr_test: [$dashboard[].panels[].targets[].expr | gsub("[$]instance"; ".*") |
            {expr: "count(\(.)) > bool 0", eval_time: "2m", exp_samples: [{labels: "{}", value: 1}]}]
    }]}' <"$dir/muster.prom" >"$dir/queries.yml"
    ok '... and each query of the dashboard finds something' promtool test rules "$dir/queries.yml"
else
    skip 3 'no promtool (package prometheus)'
fi
done_testing
