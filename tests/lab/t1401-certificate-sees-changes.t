#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A change of a node after its certification is named by its certificate, and on no other node.
. "$(dirname "$0")/certificate.sh"

issue n1 n2 >/dev/null
like "$(verdict n1) $(verdict n2)" '^0 .*valid.* 0 .*valid' 'two good nodes'

changes() { # REGEX FAULT...
    local said=$1
    shift
    lab fault "$@" >/dev/null
    like "$(verdict n2)" "^1 n2: certificate changed: .*$said" "$1: named"
    like "$(verdict n1)" '^0 ' '... on that node only'
    lab heal >/dev/null
    like "$(verdict n2)" '^0 ' '... and healed'
}
changes 'nic eth1: was .*mtu 9000 up, is .*mtu 1500 up$' wrong-mtu n2 eth1
changes 'nic eth2: was .* up, is .* down$' rail-down n2 eth2
done_testing
