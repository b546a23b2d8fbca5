#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A rank whose contributions or results are damaged, always or sometimes, is named, and nobody else.
. "$(dirname "$0")/battery.sh"

for lie in 0:send 0:recv-sometimes 3:send-sometimes 3:recv 6:send 6:recv; do
    rank=${lie%:*}
    battery 2 muster-collectives --quick --inject "lie:$lie"
    is "$status" 1 "rank $rank lies (${lie#*:})"
    is "$(record_fields '.metric == "corrupt"' .node .part .verdict)" "n$((rank / 2 + 1)) rank $rank fail" \
        '... it is named with its node'
    is "$(record_fields '.metric != "corrupt" and .node' .message)" '' '... and no other record has a node'
    valid '...'
done
like "$(record_fields '.metric == "corrupt"' .message)" 'rank 6 on n4 ends up with damaged data: this explains [0-9]+' \
    'the kind of damage is named'
battery 2 muster-collectives --quick
is "$status" 0 'without a lie the run passes'
done_testing
