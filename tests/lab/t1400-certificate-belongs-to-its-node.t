#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Certificates that a job step issues are valid on their nodes only, and not when altered.
. "$(dirname "$0")/certificate.sh"

records=$(issue n1 n2)
is "$(echo "$records" | jq -r '[.node, .test, .verdict, .message] | join(" ")' | sort)" \
    "n1 certificate pass $certificate
n2 certificate pass $certificate" 'a step of two nodes issues two certificates'
like "$(verdict n1)" '^0 n1: certificate valid: level standard' 'it is valid on n1'
like "$(verdict n2)" '^0 n2: certificate valid: level standard' '... and on n2'
like "$(lab on n1 cat "$certificate")" '^fingerprint nic eth1: veth .* mtu 9000 up$' \
    'it lists the rails'

restore() { lab on n2 cp "$certificate.good" "$certificate"; }
lab on n2 cp "$certificate" "$certificate.good"
lab on n1 cat "$certificate" | lab on n2 tee "$certificate" >/dev/null
like "$(verdict n2)" '^1 .*invalid: the certificate belongs to node n1, this is n2$' \
    'a copy on another node is invalid'
lab on n1 sed 's/^node: n1/node: n2/' "$certificate" | lab on n2 tee "$certificate" >/dev/null
like "$(verdict n2)" '^1 .*invalid: the text was changed after it was sealed$' '... with its name changed'
restore
lab on n2 sed -i 's/195 Mb/196 Mb/' "$certificate"
like "$(verdict n2)" '^1 .*invalid: the text was changed after it was sealed$' 'a byte altered'
restore
lab on n2 truncate -s -1 "$certificate"
like "$(verdict n2)" '^1 .*invalid: ' 'a byte less'
restore
like "$(verdict n2)" '^0 ' 'the restored one is valid'

munged='kill -%s $(cat /run/munge/munged.pid)'
lab on n2 sh -c "${munged/\%s/STOP}"
said=$(verdict n2)
like "$said" '^3 .*unverified: cannot verify the seal: MUNGE does not answer within' \
    'munged stopped: unverified'
lab on n2 sh -c "${munged/\%s/CONT}"
like "$(verdict n2)" '^0 ' '... and valid when munged continues'

for seconds in 2 4 10; do # on a busy machine a short one expires before it is issued, and issue fails
    ! request $seconds n1 | lab on n1 env MUSTER_CONF="$work/muster.conf" "$muster" certificate issue --node n1 \
        >/dev/null 2>&1 || break
done
sleep $seconds
like "$(verdict n1)" '^1 .*expired: the certificate expired on ' 'a short certificate expires'
lab run srun -N2 --export="ALL,MUSTER_CONF=$work/muster.conf" "$muster" revoke >/dev/null
like "$(verdict n1) $(verdict n2)" '^1 .*missing.* 1 .*missing' 'a step revokes both'
is "$(issue n1 | jq -r .node)" n1 'a request for one node'
like "$(verdict n1) $(verdict n2)" '^0 .* 1 .*missing' '... issues it for that one only'
done_testing
