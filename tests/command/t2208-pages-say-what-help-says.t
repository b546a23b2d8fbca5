#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Each sub-command and program has a manual page with the options and the usage of its --help, and no
# others; and its help fits 80 columns. The metrics that muster report writes are in its page.
. "$(dirname "$0")/command.sh"
needs muster
mpi_environment

# prints a page without its escapes: "\-\-json" becomes "--json", "\fB" nothing
plain() { sed 's/\\-/-/g; s/\\f\[\?[A-Z]\]\?//g; s/\\ / /g; s/["\\]//g' "$1"; }
# prints the options that a page explains, as tags of .TP, or a help, at the left of a line
of_page() {
    plain "$1" | awk '/^\.TP/ { getline; if ($0 ~ /^\.[BI]+R? *-/) print }' |
        grep -oE -- '(^| |,)--?[A-Za-z][a-z0-9-]*' | tr -d ' ,' | sort -u
}
of_help() {
    grep -oE '^  (-[A-Za-z], | {0,4})--[a-z0-9-]+|^  -[A-Za-z]\b' | grep -oE -- '--?[A-Za-z][a-z0-9-]*' | sort -u
}
synopsis() { # FILE: prints its lines, as a terminal shows them
    plain "$1" | sed -n '/^\.SH SYNOPSIS/,/^\.SH DESC/p' | grep -v '^\.'
}
usage() { sed -nE 's/^(Usage:|      ) ([a-z].*)/\2/p;/^$/q'; }

commands=$("$muster" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
is "$("$muster" --help | grep -E '^.{81}')" '' 'muster --help fits 80 columns'
for command in $commands; do
    page=$top_srcdir/doc/muster-$command.1
    ok "muster $command has a page" [ -e "$page" ]
    help=$("$muster" "$command" --help)
    case $command in # two commands on one page
    topology) more=$("$muster" topology --fabric --help) ;;
    preflight)
        [ -x "$top_builddir/muster-preflight" ] || continue
        more=$("$top_builddir/muster-preflight" --help </dev/null |
            sed '/^  --\(json\|time-limit\|config\|inject\)/d')
        ;;
    *) more= ;;
    esac
    help+=$'\n'$more
    is "$(of_page "$page")" "$(of_help <<<"$help" | grep -vxE -- '-h|-V|--help|--version')" \
        '... with the options of its help, and no others'
    is "$(synopsis "$page")" "$(usage <<<"$help")${more:+$'\n'$(usage <<<"$more")}" \
        '... and its usage'
    is "$("$muster" "$command" --help | grep -E '^.{81}')" '' '... within 80 columns'
    ok '... which muster(1) lists' grep -qxF ".BR muster\\-$command (1)" "$top_srcdir/doc/muster.1.in"
done

is "$(plain "$top_srcdir/doc/muster-report.1" | grep -oE '\bmuster_[a-z_]+' | sort -u)" \
    "$(grep -oE '"muster_[a-z_]+"' "$top_srcdir/validate/report/prometheus.c" | tr -d '"' | sort -u)" \
    'muster-report(1) has the metrics of --format=prometheus'

# the programs that were built
for program in launch links collectives gpu host train codec; do
    [ -x "$top_builddir/muster-$program" ] || continue
    help=$("$top_builddir/muster-$program" --help </dev/null)
    is "$(of_page "$top_srcdir/doc/muster-$program.1" | grep -vxE -- '-h|-V|--help|--version')" \
        "$(of_help <<<"$help" | grep -vxE -- '-h|-V|--help|--version')" "muster-$program has a page with its options"
    is "$(grep -E '^.{81}' <<<"$help")" '' '... and help within 80 columns'
done
if [ -x "$top_builddir/muster-launch" ]; then
    is "$(grep -oE 'Up to [0-9]+ ranks' "$top_srcdir/doc/muster-launch.1" | tr U u)" \
        "$("$top_builddir/muster-launch" --help </dev/null | tr -s ' \n' ' ' | grep -oE 'up to [0-9]+ ranks')" \
        'muster-launch(1) has the number of ranks up to which all pairs are tested'
fi
done_testing
