#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The environment of tasks on recorded and published machines is that of reviewed files (tests/golden/README.md).
[ -n "${TMPDIR-}" ] || [ ! -w /dev/shm ] || export TMPDIR=/dev/shm # thousands of small files
. "$(dirname "$0")/command.sh"
needs muster

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
