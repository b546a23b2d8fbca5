#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What scripts and monitoring may rely on (doc/operations.md, Upgrade and uninstall) stays: every field and row of
# records, fault code, key of muster.conf, command, option and exit status of an earlier version, as
# tests/fixtures/stable has them, is still there, and the values of its configuration are still valid. Drain
# reasons and certificates of earlier versions are in the unit tests policy_reason and certificate.
#
#   tests/command/t2214-what-is-stable-stays.t --print >tests/fixtures/stable/VERSION    # at a release
. "$(dirname "$0")/command.sh"
programs='launch links collectives gpu host preflight train codec'
# shellcheck disable=SC2046 # one word per program
needs muster $(printf 'muster-%s ' $programs)
mpi_environment

of_help() { # NAME: prints options and exit statuses of the help on standard input
    local help
    help=$(cat)
    grep -oE '^  (-[A-Za-z], | {0,4})--[a-z0-9-]+' <<<"$help" | grep -oE -- '--[a-z0-9-]+' | sed "s/^/option $1 /"
    sed -n '/^Exit status:/,/^Manual page:/{ /^Manual page:/!p }' <<<"$help" | grep -oE '\b[0-9]+\b' |
        sed "s/^/status $1 /"
}
table() { # WORD HEADING: prints the rows of a table of doc/records.md
    sed -n "/^## $2/,/^## [^$2]/p" "$top_srcdir/doc/records.md" | grep -E '^\| [a-z]' | sed 1d |
        awk -F' *[|] *' -v word="$1" '{ print word, $2, $3, $4, word == "row" ? $5 : "" }' | sed 's/ *$//'
}
stable() {
    local command
    table field Fields
    table row Tests
    awk '/^\.SH / { on = /FAULT CODES/ } on && /^\.B / { print "code", $2 }' "$top_builddir/doc/muster-codes.7"
    "$muster" conf --json | jq -r '"key " + .key + "=" + .default' | sed 's,=/.*/share/muster/,=/usr/share/muster/,' | sort -u
    for command in $("$muster" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
        echo "command $command"
        "$muster" "$command" --help | of_help "$command"
    done
    "$muster" topology --fabric --help | of_help 'topology --fabric'
    for command in $programs; do
        "$top_builddir/muster-$command" --help </dev/null | of_help "muster-$command"
    done
}
stable >"$dir/now"
if [ "${1-}" = --print ]; then
    trap - EXIT
    cat "$dir/now"
    tap_cleanup
    exit
fi

names() { sed '/^key /s/=.*//' "$1" | sort -u; } # defaults may change
set -- "$top_srcdir"/tests/fixtures/stable/*
ok 'an earlier version has its record' test -f "$1"
is "$(grep -h '^key .*=/' "$@" | grep -vE '=/(etc|run|usr|var)/')" '' '... without a path of a build'
for version; do
    is "$(comm -23 <(names "$version") <(names "$dir/now"))" '' "nothing of ${version##*/} is gone"
    sed -n 's/^key //p' "$version" >"$dir/muster.conf"
    like "$("$muster" conf --check -c "$dir/muster.conf" 2>&1)" ': good$' '... and its configuration is valid'
done
done_testing
