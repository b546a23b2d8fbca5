# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
#
# golden.sh - the cases of tests/golden, for update and for the test. Needs golden (this directory), fixtures, muster (the
# command) and dir (a scratch directory).

# Prints the names of all cases.
golden_names() { sed -n 's/^\([a-z][^ ]*\) .*/\1/p' "$golden/cases"; }

# Prints the command of a case and its output.
golden_run() { # NAME
    local machine arguments
    read -r _ machine arguments < <(grep -E "^$1 +" "$golden/cases")
    [ -e "$dir/$machine" ] || "$fixtures/unpack" "$fixtures/$machine.tree" "$dir/$machine" || return
    printf '# muster explain --root %s %s\n' "$machine" "$arguments"
    (
        cd "$golden" || exit
        set -f
        eval "set -- $arguments"
        "$muster" explain --root "$dir/$machine" "$@"
    )
}
