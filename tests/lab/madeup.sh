# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # tests use what is set
#
# madeup.sh - for lab tests of what muster certify does with nodes, jobs and drains, whatever their
# links are: a battery that measures nothing and reports good figures at once.
# Instead of testlab.sh, or after certify.sh:
#
#   made_up_battery                     # makes the battery; $muster and $made_up_muster are a muster beside
#                                       # it, $real_muster is the real one

. "$(dirname "${BASH_SOURCE[0]}")/testlab.sh"

made_up_battery() {
    local bin=$work/bin program
    real_muster=$muster
    mkdir "$bin"
    cp "$muster" "$bin/muster"
    # reports figures of each node with the next one
    cat >"$bin/muster-links" <<'BATTERY'
#!/bin/sh
[ "$SLURM_PROCID" = 0 ] || exit 0
scontrol show hostnames "$SLURM_JOB_NODELIST" | awk -v program="${0##*muster-}" -v run="$MUSTER_RUN" '
    function record(test, metric, unit, value, words) {
        printf "{\"suite\":\"%s\",\"test\":\"%s\",\"time\":1,\"run\":\"%s\",\"verdict\":\"pass\"," \
            "\"metric\":\"%s\",\"unit\":\"%s\",\"value\":%d%s}\n", program, test, run, metric, unit, value, words
    }
    function figure(from, to, rail) {
        record("links", "bandwidth", "Mb/s", 198, ",\"node\":\"" from "\",\"part\":\"" rail "\",\"peer\":\"" to "\"")
    }
    { node[NR - 1] = $1 }
    END {
        if (program == "launch")
            record("mpi.messages", "messages", "count", NR, "")
        if (program == "collectives")
            record("collectives.correct", "mismatches", "count", 0, "")
        for (i = 0; program == "gpu" && i < NR; i++)
            record("gpu.compute", "rate_fp32", "GFLOP/s", 1, ",\"node\":\"" node[i] "\",\"part\":\"gpu0\"")
        if (program != "links")
            exit
        for (i = 0; i < NR; i++)
            for (rail = 1; rail <= 2; rail++) {
                figure(node[i], node[(i + 1) % NR], "eth" rail)
                figure(node[(i + 1) % NR], node[i], "eth" rail)
            }
        record("links", "rounds", "count", 2, ",\"part\":\"pairs\"")
        record("links", "rounds", "count", 2, ",\"part\":\"together\"")
    }'
BATTERY
    for program in launch collectives gpu; do
        cp "$bin/muster-links" "$bin/muster-$program"
    done
    chmod 755 "$bin"/muster-*
    made_up_muster=$bin/muster muster=$bin/muster
}
