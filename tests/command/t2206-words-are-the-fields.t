#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Names and sentences use the words of MPI, Slurm, UCX, NVML and statistics, with one meaning each.
# Words that had to be translated are refused: in all text, or as parts of C identifiers if prose needs
# them. So are functions named tell, say, hear or ask. Exceptions are listed below; the list only gets
# shorter.
. "$(dirname "$0")/command.sh"

# WORD and what to use instead; refused in any text, also in the plural
everywhere='
accusation suspect
accuse suspect
accused suspect
accuser reporter
alibi exonerated
bout verbs pair run
court localization
crowded oversubscribed
culprit faulty rank
guilty faulty
inquest diagnosis of a hang
neighbour neighbor
oddity deviation
pursuit candidate search
seat rank info
stranger peer
testimony self-report
trial benchmark, case
warden monitor
witness evidence
'

# WORD and what to use instead; refused as a part of an identifier
identifiers='
bill usage
course schedule
fuse watchdog
guest peer
holding shard
meeting pair run
party world
plant inject
planted inject
scheme strategy
team communicator
'

# verbs that do not show what a function does
verbs='tell|tells|say|says|hear|hears|ask'

# PATH WORD reason
stays='
collectives/codec/ crowded a cell of a table with more symbols than it has room for
tests/unit/collectives/codec.c crowded the same
tests/rdma/ neighbour a command of iproute2
'

sources() {
    (cd "$top_srcdir" && find lib spank collectives trainer validate tests doc README.md \
        \( -name '*.[ch]' -o -name '*.sh' -o -name '*.t' -o -name '*.py' -o -name '*.md' -o -name '*.in' \
        -o -name '*.[1578]' -o -name '*.html' -o -name '*.js' \) -type f ! -path "*/t2206-*" | LC_ALL=C sort)
}

# FILE...: "FILE:LINE: WORD" of each that is refused
found() {
    awk -v everywhere="$(awk 'NF { print $1 }' <<<"$everywhere" | paste -sd'|')" \
        -v identifiers="$(awk 'NF { print $1 }' <<<"$identifiers" | paste -sd'|')" -v verbs="$verbs" '
        function search(text, words, end,    rest) {
            rest = tolower(text)
            while (match(rest, "(^|[^a-z0-9])(" words ")" end)) {
                word = substr(rest, RSTART, RLENGTH)
                gsub(/[^a-z]/, "", word)
                print FILENAME ":" FNR ": " word
                rest = substr(rest, RSTART + RLENGTH - 1)
                if (RLENGTH < 2)
                    break
            }
        }
        # the part of a line of C that is neither comment nor string
        function code(line,    out, at) {
            out = ""
            gsub(/\\./, "", line)
            while (line != "") {
                if (inside) {
                    at = index(line, "*/")
                    if (!at)
                        return out
                    line = substr(line, at + 2)
                    inside = 0
                } else if (!match(line, /"|\/\*|\/\//)) {
                    return out line
                } else {
                    out = out substr(line, 1, RSTART - 1) " "
                    if (substr(line, RSTART, 2) == "//")
                        return out
                    inside = substr(line, RSTART, 2) == "/*"
                    line = substr(line, RSTART + RLENGTH)
                    if (!inside) {
                        at = index(line, "\"")
                        line = at ? substr(line, at + 1) : ""
                    }
                }
            }
            return out
        }
        FNR == 1 { inside = 0 }
        { search($0, everywhere, "(e?s)?([^a-z0-9]|$)") }
        FILENAME ~ /\.[ch]$/ {
            text = code($0)
            search(text, identifiers, "(e?s)?([^a-z0-9]|$)")
            while (match(text, "[A-Za-z_][A-Za-z0-9_]*\\(")) {
                name = substr(text, RSTART, RLENGTH - 1)
                if (name ~ "(^|_)(" verbs ")(_|$)")
                    print FILENAME ":" FNR ": " name "()"
                text = substr(text, RSTART + RLENGTH)
            }
        }' "$@"
}

# the search finds each kind of word
cat >"$dir/bad.c" <<'EOF2'
/* the accused, and two
 * witnesses */
struct trial_of_two *x = TRIAL;
int plant_kind; int my_team;
static void tell_all(void); host_say("x"); ask(1);
EOF2
cat >"$dir/good.c" <<'EOF2'
/* a team of three asks; a plant
 * and a party */
is_told = 1; teammate = trialist; const char *text = "your team"; int planting; // a guest
tellurium(); task(); essay();
EOF2
is "$(cd "$dir" && found bad.c | sed 's/.*: //' | paste -sd' ')" \
    'accused witnesses trial trial plant team tell_all() host_say() ask()' 'each kind of word is found'
is "$(cd "$dir" && found good.c)" '' '... and nothing else'

mapfile -t files < <(sources)
((${#files[@]} > 500)) || bail 'no sources'
# most files have none of these words, and grep reads them faster
any=$(printf '%s\n' "$everywhere" "$identifiers" | awk 'NF { print $1 }' | paste -sd'|')
mapfile -t files < <(cd "$top_srcdir" &&
    grep -liE "(^|[^a-z0-9])($any)(e?s)?([^a-z0-9]|$)|(^|[^a-z0-9])($verbs)[a-z_]*\(" "${files[@]}")
all=$(cd "$top_srcdir" && found "${files[@]}")
refused=$(awk -v stays="$stays" '
    BEGIN {
        lines = split(stays, line, "\n")
        for (i = 1; i <= lines; i++) {
            split(line[i], field, " ")
            path[i] = field[1]
            word[i] = field[2]
        }
    }
    {
        is_refused = 1
        for (i = 1; i <= lines; i++)
            if (path[i] != "" && index($0, path[i]) == 1 && ($2 == word[i] || $2 == word[i] "s"))
                is_refused = 0
    }
    is_refused' <<<"$all")
is "$refused" '' 'no refused word is used'
while read -r path word _; do
    [ -z "$path" ] || ok "$word in $path is needed" grep -qE "^${path}[^ ]*: ${word}s?$" <<<"$all"
done <<<"$stays"

done_testing
