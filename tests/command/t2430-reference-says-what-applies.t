#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster reference: the lines of the table that apply to a node, why they apply, and their source.
. "$(dirname "$0")/command.sh"
needs muster

echo "Reference=$top_srcdir/etc/reference.conf" >"$dir/conf"
reference() { "$muster" reference --config "$dir/conf" "$@"; }
"$top_srcdir/tests/fixtures/unpack" "$top_srcdir/tests/fixtures/dgx-h100.tree" "$dir/h100"
"$top_srcdir/tests/fixtures/unpack" "$top_srcdir/tests/fixtures/ethernet.tree" "$dir/ethernet"

text=$(reference --root "$dir/h100")
is "$?" 0 'the lines for a node: status 0'
like "$text" '8 x NVIDIA H100 80GB HBM3, rails of 400 Gb/s: [0-9]+ of [0-9]+ lines of reference.conf apply$' \
    '... with its hardware'
like "$text" 'links.bandwidth +380 Gb/s +threshold, warns +any +GPU H100 \(here NVIDIA H100 80GB HBM3\), rails of 400 Gb/s \(here 400\) +github.com/[^ ]+ .*, 20[0-9-]+$' \
    '... the reason why a line applies, and its source with date'
like "$text" 'nccl.all_reduce +460 GB/s +threshold +1 ' '... a metric that muster does not measure is shown, and does not warn'
unlike "$text" 'MI300X' '... but no line for other hardware'
like "$(reference --root "$dir/h100" --all)" 'not: GPU MI300X \(here NVIDIA H100 80GB HBM3\)' '--all has the reason why a line does not apply'
like "$(reference --root "$dir/ethernet")" ' 0 of [0-9]+ lines' 'a node without such hardware has none'
mkdir "$dir/slurm"
echo "NodeName=rack7-9 NodeHostname=$(</proc/sys/kernel/hostname)" >"$dir/slurm/slurm.conf"
like "$(SLURM_CONF=$dir/slurm/slurm.conf SLURMD_NODENAME='' reference)" '^rack7-9: ' 'this node has the name that slurm.conf gives it'
records_hold 'the records are of the schema' < <(reference --json --root "$dir/h100")

echo 'metric=links.bandwidth value=380 unit=GB/s' >"$dir/table"
echo "Reference=$dir/table" >"$dir/conf"
text=$(reference --root "$dir/h100" 2>&1)
is "$?" 2 'a bad table is a usage error'
like "$text" "^muster reference: $dir/table:1: found no kind" '... with file and line'
printf 'metric=\033[31m\302\233\377\303\274\n' >"$dir/table"
like "$(reference --root "$dir/h100" 2>&1)" ":1: found metric=\?\[31m\?\?\?ü, allowed" \
    '... and without control characters'
echo "Reference=$dir/nowhere" >"$dir/conf"
text=$(reference --root "$dir/h100" 2>&1)
is "$?" 2 'so is a missing table'
like "$text" 'nowhere: No such file' '... which is named'
echo 'Reference=' >"$dir/conf"
like "$(reference --root "$dir/h100")" ' 0 of 0 lines of no table apply' 'no table is allowed'
reference frob 2>/dev/null
is "$?" 2 'an extra argument is refused'
done_testing
