#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# doc/records.schema.json, which the build makes from doc/records.md, takes what the page takes and
# nothing else.
set -u
top_srcdir=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
. "$top_srcdir/tests/tap.sh"

command -v python3 >/dev/null || skip_all 'no python3'
work=$(mktemp -d)
tap_cleanup() { rm -rf "$work"; }
schema=$work/schema.json
ok 'the schema is made from the page' sh -c "LC_ALL=C awk -f '$top_srcdir/doc/records.awk' '$top_srcdir/doc/records.md' >'$schema'"
is "$(grep -c '^  {"properties": {"suite"' "$schema")" \
    "$(sed '1,/^## Tests/d' "$top_srcdir/doc/records.md" | grep -Ec '^\| [a-z]' | awk '{ print $1 - 1 }')" \
    'with each row of the table of tests'

# As much of JSON Schema as that file uses (json-schema.org/draft/2020-12/json-schema-validation).
cat >"$work/validate.py" <<'END'
import json, sys
types = {'string': str, 'number': (int, float), 'object': dict}
def holds(rule, value):
    if set(rule) - {'$schema', '$id', 'title', 'description', 'type', 'properties', 'required', 'dependentRequired',
                    'anyOf', 'not', 'enum', 'const', 'minLength'}:
        sys.exit('a keyword that this test does not know')
    kind = rule.get('type')
    if kind == 'integer' and not (isinstance(value, (int, float)) and value == int(value)):
        return False
    if kind in types and (isinstance(value, bool) or not isinstance(value, types[kind])):
        return False
    if 'const' in rule and value != rule['const'] or 'enum' in rule and value not in rule['enum']:
        return False
    if len(value) < rule.get('minLength', 0) if isinstance(value, str) else False:
        return False
    if isinstance(value, dict):
        if any(name not in value for name in rule.get('required', [])):
            return False
        if any(name in value and need not in value for name, needs in rule.get('dependentRequired', {}).items() for need in needs):
            return False
        if any(name in value and not holds(part, value[name]) for name, part in rule.get('properties', {}).items()):
            return False
    if 'anyOf' in rule and not any(holds(part, value) for part in rule['anyOf']):
        return False
    return not ('not' in rule and holds(rule['not'], value))
rule = json.load(open(sys.argv[1]))
print(''.join('y' if holds(rule, json.loads(line)) else 'n' for line in sys.stdin if line.strip()))
END
validate() { python3 "$work/validate.py" "$schema"; }

"$top_srcdir/tests/report/synthetic-run" 4 --fault slow-rail:n3:eth1 >"$work/run"
is "$(validate <"$work/run" | tr -d y)" '' 'records of a run hold'
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
)" yynnnnnnnnnnn 'what is right holds, and none of what is wrong'
built=${top_builddir:-.}/doc/records.schema.json
if [ -e "$built" ]; then
    ok 'the one that was built is that' cmp "$built" "$schema"
else
    skip 1 'nothing was built'
fi
done_testing
