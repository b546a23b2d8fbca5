#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The environment of tasks on recorded and published machines, against the files that somebody has read and agreed with
# (tests/golden/README.md).
set -u
top_srcdir=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
. "$top_srcdir/tests/tap.sh"

muster=$top_builddir/muster
[ -x "$muster" ] || skip_all 'muster is not built'
unset MUSTER_CONF
dir=$(mktemp -d -p "${TMPDIR:-/dev/shm}" 2>/dev/null || mktemp -d) # thousands of small files
tap_cleanup() { rm -rf "$dir"; }
golden=$top_srcdir/tests/golden fixtures=$top_srcdir/tests/fixtures
export golden fixtures muster dir
. "$golden/golden.sh"

for name in $(golden_names); do
    golden_run "$name" >"$dir/got" 2>&1
    ok "$name" diff -u --label "golden/$name.env" --label 'now' "$golden/$name.env" "$dir/got"
done
is "$(cd "$golden" && printf '%s\n' *.env | LC_ALL=C sort)" "$(golden_names | sed 's/$/.env/' | LC_ALL=C sort)" \
    'every golden file has its case'
done_testing
