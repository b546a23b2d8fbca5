#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster explain: which tasks there are, its options, formats, and bad usage. t2702 tests the values.
. "$(dirname "$0")/command.sh"
needs muster

unset NCCL_SOCKET_IFNAME GLOO_SOCKET_IFNAME
node=$dir/node
"$top_srcdir/tests/fixtures/unpack" "$top_srcdir/tests/fixtures/hgx-a100.tree" "$node"
explain() { "$muster" explain --root "$node" "$@"; }

text=$(explain --nodes 'a100-[1-4]' --gpus each)
is "$?" 0 'explain succeeds'
like "$text" '^node    a100-2, 1 of 4: a100-\[1-4\]$' 'the node and its place'
like "$text" '^fabric  InfiniBand: mlx5_0:1 ' 'the fabric, with the reason'
like "$text" '^every rank of the node$' 'variables that all ranks share come first'
is "$(grep -c '^  WORLD_SIZE=32$' <<<"$text")" 1 '... once'
is "$(grep -c '^  RANK=' <<<"$text")" 8 'each rank has its own'
like "$text" '^rank 13 of 32, local 5 of 8, GPU5$' 'ranks are placed in blocks'
is "$(grep -A1 '^  RANK=13$' <<<"$text" | tail -n 1)" '      task: SLURM_PROCID is 13' '... and each line has its reason'
unlike "$text" 'left alone' 'variables that are left alone are not shown'
unlike "$text" '[[:space:]]$' 'no line ends in spaces'

text=$(explain --ntasks 10 --nodes 'a100-[1-4]' --procid 3)
like "$text" '^rank 3 of 10, local 0 of 3, ' 'if tasks do not divide evenly, the first nodes have more'
like "$(explain --ntasks 10 --nodes 'a100-[1-4]' --node a100-4)" '^rank 8 of 10, local 0 of 2, ' '... the last ones fewer'
like "$(explain --procid 0 --all)" '^  UCX_IB_GID_INDEX left alone$' '--all shows variables that are left alone'
like "$(explain --procid 0 --gpus none)" ', no GPU$' 'a rank without GPUs'
like "$(explain --procid 0 --gpus 2,3 --env CUDA_VISIBLE_DEVICES=1)" ', GPU3$' 'variables select among the GPUs'
unlike "$(explain --ntasks-per-node 1 --program "numactl $(printf -- '-x%.0s ' {1..100})torchrun a.py")" '^  RANK=' \
    'a launcher is recognized after a hundred words'
like "$(explain --procid 0 --job 7.2)" 'job 7 step 2' '--job sets job and step'
unlike "$(explain --procid 0 --env $'NCCL_IB_HCA=\033[31m' --all)" $'\033' 'escape sequences are removed'
unlike "$(explain --procid 0 --env $'NCCL_IB_HCA=\302\23331m' --all)" $'\302\233' '... also one that begins with U+009B'
unlike "$(NCCL_IB_HCA=mine explain --procid 0 --all)" 'mine' "tasks of a recorded node get no variable of this shell"

text=$(explain --export)
is "$?" 0 '--export: status 0'
unlike "$text" 'RANK=|MASTER_ADDR|WORLD_SIZE' "... has no variables of ranks"
is "$(env -i bash -c "$text"$'\necho "$UCX_NET_DEVICES"')" 'mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1' '... and can be read by a shell'
like "$(explain --export --procid 5)" "^export RANK='5'$" '... but has them with --procid'
printf '%s\n' 'Variable=MY_NOTE set "it'\''s"' >"$dir/muster.conf"
text=$(explain --export --config "$dir/muster.conf")
is "$(env -i bash -c "$text"$'\necho "$MY_NOTE"')" "it's" 'quotes are kept'
is "$(explain --procid 0 --config "$dir/muster.conf" | grep -A1 MY_NOTE)" \
    "  MY_NOTE=it's
      policy muster.conf:1: the site sets it" "lines of the site are shown with file and line"

if command -v jq >/dev/null; then
    explain --json --gpus each >"$dir/json"
    is "$?" 0 '--json: status 0'
    is "$(jq -s length "$dir/json")" 8 '... has an object for each task'
    is "$(jq -c 'select(.rank == 6) | [.node, .fabric, .local_rank, .gpus]' "$dir/json")" \
        '["a100-2","InfiniBand",6,["0000:cd:00.0"]]' '... with its node, fabric, local rank and GPUs'
    is "$(jq -r 'select(.rank == 6) | .variables[] | select(.name == "RANK") | "\(.action) \(.value) \(.rule)"' "$dir/json")" \
        'set 6 task' '... and its variables'
    is "$(explain --json --procid 0 --all --env NCCL_IB_HCA=$'\xe9t\xe9' |
        jq -r '.variables[] | select(.name == "NCCL_IB_HCA") | .fact')" \
        $'set by the user to "\xef\xbf\xbdt\xef\xbf\xbd"' '... also one whose value is not UTF-8'
else
    skip 4 'no jq'
fi

refused() { # PATTERN ARGUMENT...
    local pattern=$1 output
    shift
    output=$(explain "$@" 2>&1)
    is "$?" 2 "$*: status 2"
    like "$output" "^muster explain: .*$pattern" '... with the reason'
}
refused 'node a100-2 is not among n\[1-2\]; set this node with --node' --nodes 'n[1-2]'
refused 'rank 8 is not on a100-2, which has 0 to 7' --procid 8
refused '--gpus 8: the node has 8 GPUs' --gpus 8
refused '--gpus 1,,2: expected numbers' --gpus 1,,2
refused '--gpus=each: cannot divide 8 GPUs evenly among 3 tasks' --gpus each --ntasks-per-node 3
refused '3 tasks on 4 nodes: not a valid step' --ntasks 3 --nodes 'a100-[1-4]'
refused '9 tasks on 1 nodes, this many on each' --ntasks 9 --ntasks-per-node 8
refused 'option --ntasks: expected a number from 1 to 2147483647, found "none"' --ntasks none
output=$(explain --program "$(printf 'a%.0s ' {1..4097})" 2>&1)
is "$?" 2 'a program of 4097 words: status 2'
like "$output" '^muster explain: option --program: expected at most 4096 words$' '... with the reason'
refused 'option --job: expected a number of at least 1, found "0"' --job 0
refused 'option --env: expected NAME=VALUE, found "=x"' --env =x
refused 'unexpected argument "hostname"; name the program with --program' hostname
refused 'has a \[ without a \]' --nodes 'n['
"$muster" explain --root "$dir/none" 2>/dev/null
is "$?" 3 'a root without a node: status 3'

GLOO_SOCKET_IFNAME=mine0 "$muster" explain --all --ntasks-per-node 1 >"$dir/live" 2>"$dir/err"
is "$?" 0 'explain on this machine: status 0'
like "$(<"$dir/live")" 'GLOO_SOCKET_IFNAME left alone' "... with this shell's variables"
mkdir "$dir/slurm"
echo "NodeName=rack7-9 NodeHostname=$(</proc/sys/kernel/hostname)" >"$dir/slurm/slurm.conf"
like "$(env -u SLURMD_NODENAME SLURM_CONF="$dir/slurm/slurm.conf" "$muster" explain)" '^node    rack7-9, 0 of 1$' \
    '... and the name that slurm.conf gives it'
done_testing
