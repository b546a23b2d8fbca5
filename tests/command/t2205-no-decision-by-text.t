#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Programs decide by the codes, tests and metrics of lib/catalog: no source compares a string of a
# record, or a copy of it, with a literal. A comparison is allowed in a parser of another program's
# text, or if it stands below with its reason. And with other messages in all its records a run has
# the same verdicts, advice, reports and history.
. "$(dirname "$0")/command.sh"

# FILE reason
exceptions='
lib/catalog/kernel_event.c lines of the kernel log
validate/policy/plan.c a reason that Slurm wrote: its part and its beginning
validate/policy/cap.c the part that a reason of Slurm names
validate/certify/stages/reach.c the part that a reason of Slurm names
validate/command/node/gate.c the part that a reason of Slurm names
validate/checks/config_devices.c the part of a path in /sys
validate/compare/facts/groups.c the kind of device that a part begins with
validate/report/recordfile.c the reader of records, of whole families of metrics
validate/report/html_training.c the number in a part "step 7"
validate/certify/stages/links/links.c the parts of metric rounds are names of passes
validate/health/kernel_log.c a file of its own, with "-" for no part
validate/localization/self_reports.c the family of metrics bandwidth_
'

sources() {
    (cd "$top_srcdir" && find lib validate spank trainer collectives -name '*.[ch]' | LC_ALL=C sort)
}

names() { # prints the names of tests and fault codes as alternatives of a regular expression
    (cd "$top_srcdir" && sed -nE 's/^(TEST|FAULT)\([A-Z0-9_]+, "([^"]+)".*/\2/p' \
        lib/catalog/test_table.h lib/catalog/fault_table.h) | grep '[._]' | sed 's/\./[.]/g' | paste -sd'|'
}

found() { # FILE...: "FILE: COMPARISON" of each that is refused
    awk -v names="$(names)" '
        function tell(file, text) {
            gsub(/[[:space:]]+/, " ", text)
            while (match(text, pattern)) {
                print file ": " substr(text, RSTART, RLENGTH)
                text = substr(text, RSTART + RLENGTH)
            }
        }
        BEGIN {
            compare = "(strn?(case)?cmp|strstr|strpbrk|fnmatch|is|is_text|begins|starts_with|ends_in)\\("
            field = "(suite|test|metric|message|part|reason|limit_source|direction|severity|verdict)"
            string = "\"[^\"]*\""
            pattern = compare "([^()\"]*[^a-z_()\"])?" field "([^a-z_()\"][^()\"]*)?,[^()\"]*" string \
                "|" compare string ", ?([^()\"]*[^a-z_()\"])?" field "[^a-z_(]" \
                "|" compare "[^()\"]*\"(" names ")\""
        }
        FNR == 1 && NR > 1 { tell(file, text); text = "" }
        { file = FILENAME; text = text " " $0 }
        END { tell(file, text) }' "$@"
}

# the search finds such comparisons
cat >"$dir/bad.c" <<'EOF'
if (strcmp(record->test, "links") == 0) a();
if (record->metric && strncmp(record->metric,
                              "bandwidth", 9) == 0) b();
if (strstr(record->message, "not respond")) c();
if (strcmp("peers", finding.limit_source) == 0) d();
const char *test = record->test; if (!strcmp(test, "x")) e();
if (strcmp(name, "net.topology") == 0) f();
if (is(word, "link_down")) g();
EOF
cat >"$dir/good.c" <<'EOF'
if (catalog_is_test(record->test, TEST_LINKS)) a();
if (strcmp(record->part, other->part) == 0) b();
if (strcmp(driver, "veth") == 0 || strcmp(partition, "all") == 0) c();
record.test = "links"; certify_verdict(certify, node, "slurm.state", record->part, "text");
EOF
is "$(found "$dir/bad.c" | wc -l)" 7 'each kind of comparison is found'
is "$(found "$dir/good.c")" '' '... and nothing else'

excepted=$(sed -n 's/^\([^ ]*\.c\) .*/\1/p' <<<"$exceptions")
mapfile -t files < <(sources)
((${#files[@]} > 300)) || bail 'no sources'
all=$(cd "$top_srcdir" && found "${files[@]}")
refused=$(grep -vFf <(sed 's/$/:/' <<<"$excepted") <<<"$all")
is "$refused" '' 'no program decides by a text: use lib/catalog (catalog_is_test(), record_code())'
while read -r file; do
    ok "the exception for $file is needed" grep -qF "$file: " <<<"$all"
done <<<"$excepted"

# the messages of records with a verdict; without one a message is a value
add=$top_builddir/tests/history-add
if ! [ -x "$muster" ] || ! [ -x "$add" ] || ! command -v python3 >/dev/null; then
    skip 5 'no muster, history-add or python3'
    done_testing
fi
"$top_srcdir/tests/report/synthetic-run" 8 --per-leaf 4 --fault slow-rail:n3:eth1 --fault unknown:n5 \
    --fault dead:n6 --fault uplink:leaf1:leaf2 >"$dir/as-it-was"
cat >"$dir/other.py" <<'EOF'
import html, json, re, sys

# with --records: prints the records with other messages; else: an output, as it would be with these
other = lambda part, text: part + re.sub('[^ ]', 'x', text[len(part):])
new = {}
for line in open(sys.argv[1]):
    record = json.loads(line)
    if record.get('verdict', 'none') != 'none' and record.get('message'):
        part, text = record.get('part', ''), record['message']
        new[text] = record['message'] = other(part if text.startswith(part) else '', text)
    if '--records' in sys.argv:
        print(json.dumps(record))
if '--records' not in sys.argv:
    output = html.unescape(sys.stdin.read())
    for text in sorted(new, key=len, reverse=True):
        output = output.replace(text, new[text])
    sys.stdout.write(output)
EOF
as_other() { python3 "$dir/other.py" "$dir/as-it-was"; }
python3 "$dir/other.py" "$dir/as-it-was" --records >"$dir/other"
isnt "$(cksum <"$dir/other")" "$(cksum <"$dir/as-it-was")" 'a run with other messages'
for run in as-it-was other; do
    echo "HistoryFile=$dir/$run.db" >"$dir/$run.conf"
    "$add" "$dir/$run.db" 20261120-161200-1a2b 1795190060 <"$dir/$run"
    for format in table junit prometheus; do
        "$muster" report --config "$dir/$run.conf" --format "$format" "$dir/$run" >"$dir/$run.$format" 2>&1
        echo "exit status $?" >>"$dir/$run.$format"
    done
    for words in '' n3 n6 '--json n3'; do
        # shellcheck disable=SC2086 # several words, or none
        "$muster" history --config "$dir/$run.conf" $words 2>&1 || echo "exit status $?"
    done >"$dir/$run.history"
done
for format in table junit prometheus history; do
    is "$(as_other <"$dir/other.$format")" "$(as_other <"$dir/as-it-was.$format")" \
        "the same in the ${format/table/table, with its advice}"
done
done_testing
