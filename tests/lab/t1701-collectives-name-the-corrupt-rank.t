#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A rank whose contributions or results are damaged is named, and nobody else.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/testlab.sh"
. "$(dirname "$0")/battery.sh"

for rank in 0 3 6; do
    for how in send recv; do
        battery 2 muster-collectives --quick --inject lie:$rank:$how
        is "$status" 1 "rank $rank lies ($how)"
        is "$(of '.metric == "corrupt"' .node .part .verdict)" "n$((rank / 2 + 1)) rank $rank fail" \
            '... it is named with its node'
        is "$(of '.metric != "corrupt" and .node' .message)" '' '... and no other record has a node'
        valid '...'
    done
done
like "$(of '.metric == "corrupt"' .message)" 'rank 6 on n4 ends up with damaged data: that explains [0-9]+' \
    'how it lies is told'
battery 2 muster-collectives --quick
is "$status" 0 'without a lie all is well'
done_testing
