#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# doc/records.schema.json, which the build makes from doc/records.md, accepts the same records as that
# page; doc/conf.schema.json accepts what muster conf --json prints. t2400 has that of certificates.
. "$(dirname "$0")/command.sh"
python3 -c 'from jsonschema import Draft202012Validator' 2>/dev/null || skip_all 'no jsonschema for python3'
schema=$dir/schema.json
ok 'the schema is made from the page' sh -c "LC_ALL=C awk -f '$top_srcdir/doc/records.awk' '$top_srcdir/doc/records.md' >'$schema'"
is "$(grep -c '^  {"properties": {"suite"' "$schema")" \
    "$(sed '1,/^## Tests/d' "$top_srcdir/doc/records.md" | grep -Ec '^\| [a-z]' | awk '{ print $1 - 1 }')" \
    'with each row of the table of tests'

is "$(sed -n 's/.*"$id": "urn:muster:record:\([0-9]*\)",$/version \1/p' "$schema")" \
    "$(grep -Eo 'version [0-9]+ of the schema' "$top_srcdir/doc/records.md" | cut -d ' ' -f 1,2)" \
    '... and its version'
ok '... which exists' grep -q 'record:[0-9]' "$schema"

validate() { python3 "$top_srcdir/tests/command/validate.py" "${1:-$schema}"; } # [SCHEMA]

"$top_srcdir/tests/report/synthetic-run" 4 --fault slow-rail:n3:eth1 >"$dir/run"
is "$(validate <"$dir/run" | tr -d y)" '' 'records of a run are valid'
is "$(validate <<'END'
{"time":1,"suite":"links","test":"links","metric":"latency","value":5,"unit":"us"}
{"time":1,"suite":"links","test":"links","metric":"latency","verdict":"unknown"}
{"suite":"links","test":"links","metric":"latency","value":5,"unit":"us"}
{"time":1,"suite":"links","test":"links","metric":"latency","value":5,"unit":"ms"}
{"time":1,"suite":"links","test":"links","metric":"latency","value":5}
{"time":1,"suite":"links","test":"links","metric":"latency","value":"5","unit":"us"}
{"time":1,"suite":"links","test":"links","metric":"colour","value":5,"unit":"us"}
{"time":1,"suite":"links","test":"links","metric":"latency","verdict":"good"}
{"time":1,"suite":"links","test":"links","metric":"latency","value":5,"unit":"us","limit":3}
{"time":1,"suite":"links","test":"links","metric":"latency","value":5,"unit":"us","limit":3,"limit_source":"guess"}
{"time":1,"suite":"links","test":"links","metric":"latency","node":"","value":5,"unit":"us"}
{"time":1,"suite":"certify","test":"certify","metric":"latency","verdict":"pass"}
{"time":1,"suite":"links","test":"links","metric":"latency","samples":1.5}
END
)" yynnnnnnnnnnn 'valid records are accepted, and no invalid ones'
built=$top_builddir/doc/records.schema.json
if [ -e "$built" ]; then
    ok 'the built schema is the same' cmp "$built" "$schema"
else
    skip 1 'nothing was built'
fi

# The schema of the configuration is a page of its own.
conf=$top_srcdir/doc/conf.schema.json
if [ -x "$muster" ]; then
    "$muster" conf --json --all >"$dir/conf"
    is "$(validate "$conf" <"$dir/conf" | tr -d y)" '' 'all lines of muster conf --json --all are valid'
    is "$(jq -rs 'map(has("key")) | unique | join(" ")' "$dir/conf")" 'false true' '... keys and constants'
else
    skip 2 'muster is not built'
fi
is "$(validate "$conf" <<'END'
{"key":"DrainCap","value":"10%","default":"10%","meaning":"most drained nodes"}
{"key":"DrainCap","value":10,"default":"10%","meaning":"most drained nodes"}
{"key":"DrainCap","value":"10%","meaning":"most drained nodes"}
{"constant":"GATE_DEADLINE_MS","room":"node","value":900,"unit":"ms","origin":"chosen 2026-11","meaning":"limit"}
{"constant":"GATE_DEADLINE_MS","room":"node","value":900,"unit":"ms","origin":"guessed","meaning":"limit"}
{"constant":"GATE_DEADLINE_MS","room":"node","value":"900","unit":"ms","origin":"chosen 2026-11","meaning":"limit"}
END
)" ynnynn '... and no invalid ones'
done_testing
