#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# certify loads AMD's accelerators (stand-ins of HIP, hipRTC, hipBLASLt and RCCL, tests/gpu): one with
# wrong results is named and fails its node alone, and healed the node is certified.
lab_options=(--gpus=amd)
. "$(dirname "$0")/certify.sh"
. "$(dirname "$0")/madeup.sh"
made_up_battery # of launch, links and collectives; muster-gpu is the real one
[ -x "${real_muster%/*}/muster-gpu" ] || skip_all "muster-gpu is not beside $real_muster"
rm "$work/bin/muster-gpu"

lab fault gpu-wrong n3 5 >/dev/null
certify --level quick --no-drain
is "$status $(verdicts)" '1 n1 pass n2 pass n3 fail n4 pass' 'wrong results fail the node, and no other' || show
is "$(jq -r 'select(.suite == "gpu" and .verdict == "fail") | "\(.node) \(.part) \(.code)"' "$work/records" | sort -u)" \
    'n3 gpu5 gpu_result_wrong' '... by device and code' || show
like "$(jq -r 'select(.suite == "gpu" and .verdict == "fail") | .message' "$work/records")" 'AMD Instinct MI300X' \
    '... and as a device of AMD'
is "$(jq -r 'select(.metric == "rate_fp32") | "\(.node) \(.part)"' "$work/records" | sort -u | wc -l)" 32 \
    'eight devices of each node were loaded'
lab heal >/dev/null
certify --level quick
is "$status $(verdicts)" '0 n1 pass n2 pass n3 pass n4 pass' 'healed, they are all certified' || show
ok 'nothing is left' within 60 nothing_left
done_testing
