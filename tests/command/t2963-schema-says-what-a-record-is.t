#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# doc/records.schema.json, which the build makes from doc/records.md, accepts the same records as that
# page.
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

# Validates with another implementation of JSON Schema (draft 2020-12). Prints y or n per record.
cat >"$dir/validate.py" <<'END'
import json, sys
from jsonschema import Draft202012Validator
schema = json.load(open(sys.argv[1]))
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)
print(''.join('y' if validator.is_valid(json.loads(line)) else 'n' for line in sys.stdin if line.strip()))
END
validate() { python3 "$dir/validate.py" "$schema"; }

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
done_testing
