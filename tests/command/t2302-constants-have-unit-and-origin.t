#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster conf --all prints each tuned constant with unit and origin. Sources have no constants of their
# own beside lib/constants, which must have each name that ends in a unit or a share and is set to a
# number, and each macro that is a fraction.
. "$(dirname "$0")/command.sh"
needs muster
command -v jq >/dev/null || skip_all 'there is no jq'
printf '%s\n' 'Report=csv:/a' 'Report=csv:/b' 'MTU=9000' >"$dir/site"

"$muster" conf -c "$dir/site" --all >"$dir/printed"
is $? 0 '--all'
is "$("$muster" conf -c "$dir/printed")" "$("$muster" conf -c "$dir/site")" '... prints the same configuration'
like "$(cat "$dir/printed")" '^#   CHECK_MOUNT_S = 2 s: .* \(chosen [0-9]{4}-[0-9]{2}\)$' '... with a constant as a comment'

"$muster" conf -c "$dir/site" --all --json >"$dir/json"
is "$(jq -r 'select(.key == "Report" or .key == "MTU") | "\(.key)=\(.value)"' "$dir/json" | xargs)" \
    'MTU=9000 Report=csv:/a Report=csv:/b' '--json has a line for each line of the configuration'
is "$("$muster" conf -c "$dir/site" --json)" "$(jq -c 'select(.key)' "$dir/json")" '... without --all only these'
is "$(jq -r 'select(.constant == "BUDGET_RAIL_S") | "\(.value | length) \(.value[0] | type)"' "$dir/json")" '3 number' \
    'an array has all values'
is "$(jq -r 'select(.constant) | select((.unit | length) == 0 or (.meaning | length) == 0 or
    (.origin | test("^(chosen [0-9]{4}-[0-9]{2}|(measured|standard) [0-9]{4}-[0-9]{2}: .+)$") | not)) | .constant' \
    "$dir/json")" '' 'each constant has unit, meaning and origin with its date'
is "$(jq -r 'select(.constant).constant' "$dir/json" | LC_ALL=C sort)" \
    "$(cat "$top_srcdir"/lib/constants/*_constants.h | sed -n 's/^ROW([a-z]*, \([A-Z0-9_]*\),.*/\1/p' | LC_ALL=C sort)" \
    'each row of lib/constants is printed, once'

used=$(cd "$top_srcdir" && grep -rhoE --include='*.[ch]' --exclude-dir=constants '\<[A-Z][A-Z0-9_]+\>' \
    lib spank validate collectives trainer | LC_ALL=C sort -u)
is "$(jq -r 'select(.constant).constant' "$dir/json" | LC_ALL=C sort | LC_ALL=C comm -23 - <(echo "$used"))" '' \
    '... and is used'

# NAME reason
stays='
bin_limit of a table: wide bins below it, fine ones above
RESOLUTION_S of slurm.conf
ROUNDS_MIN the least number
SECOND_US one second
START_HALF_WIDTH of the weights that a training begins with
WINDOW_MINUTES of slurm.conf
WINDOW_MOST_MINUTES of slurm.conf
YEAR_2100_S a date
'

found() { # DIR: prints "PATH NAME" of each constant
    (cd "$1" && grep -rE '^ *(#define|enum|static const|[A-Z][A-Z0-9_]* = )' --include='*.[ch]' --exclude-dir=constants \
        lib spank validate collectives trainer) | sed 's|/\*[^*]*\*/||g; s/#define \([A-Za-z0-9_]*\)/define \1 =/' | awk -F: '
        {
            path = $1
            sub(/^[^:]*:/, "")
            is_macro = /^ *define /
            while (match($0, /[A-Za-z][A-Za-z0-9_]* += +\(?[-0-9.]+/)) {
                name = value = substr($0, RSTART, RLENGTH)
                sub(/ .*/, "", name)
                sub(/.* \(?/, "", value)
                if (toupper(name) ~ /(^|_)(S|MS|US|MIN|MINUTES|SHARE|PERCENT|RATIO|TRIES|LIMIT)$/ ||
                    (is_macro && value ~ /^0\./))
                    print path, name
                $0 = substr($0, RSTART + RLENGTH)
            }
        }'
}

refused() { # DIR
    found "$1" | awk -v stays="$stays" '
        BEGIN {
            lines = split(stays, line, "\n")
            for (i = 1; i <= lines; i++) {
                split(line[i], word, " ")
                may[word[1]] = 1
            }
        }
        {
            if (!($2 in may))
                print
        }'
}

mkdir -p "$dir"/{lib/base,lib/constants,spank,collectives,trainer,validate/checks}
printf '%s\n' 'enum { NAMES = 4, WAIT_S = 3 };' 'static const double low_share = 0.1;' '#define PATIENCE_S 60.0' \
    'enum {' '    LOCK_MS = 10 /* TIME_S = 3 */' '};' 'enum { KINDS = 3 };' '    double limit_s = 0;' \
    '#define LEAST 0.7' '#define VERSION 2' \
    >"$dir/validate/checks/example.c"
echo 'enum { SECOND_US = 1000000 };' >"$dir/lib/base/example.c"
is "$(refused "$dir")" 'validate/checks/example.c WAIT_S
validate/checks/example.c low_share
validate/checks/example.c PATIENCE_S
validate/checks/example.c LOCK_MS
validate/checks/example.c LEAST' 'constants outside the table are found, and nothing else'

is "$(refused "$top_srcdir")" '' 'no tuned constants outside lib/constants'
all=$(found "$top_srcdir")
for name in $(awk 'NF { print $1 }' <<<"$stays"); do
    grep -q " $name$" <<<"$all" || echo "$name"
done >"$dir/done"
is "$(cat "$dir/done")" '' '... and each exception is needed'
done_testing
