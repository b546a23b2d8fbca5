#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A certificate issued on this node is valid until it expires or the node changes.
. "$(dirname "$0")/certificate.sh"

like "$(verdict)" "^1 n1: certificate missing: there is no certificate at $certificate\$" 'no certificate yet'
is "$(request n2 n3 | muster certificate issue --node n1 2>&1)" '' 'a request for other nodes only'
ok '... is not an error' eval 'request n2 | muster certificate issue --node n1'
not_ok '... and issues nothing' test -e "$certificate"

request n2 n1 n3 | muster certificate issue --node n1 --json >"$dir/record"
is $? 0 'a request that includes this node'
like "$(cat "$dir/record")" \
    "\"run\":\"r1\".*\"suite\":\"certificate\",\"test\":\"certificate\",\"node\":\"n1\",\"verdict\":\"pass\",\"message\":\"$certificate\"" \
    '... gives a record'
is "$(wc -l <"$dir/record")" 1 '... and only one'
is "$(stat -c '%a %U' "$certificate")" '644 root' '... and a file that everybody may read'
is "$(ls -A "$dir")" "$(printf '%s\n' certificate munge muster.conf record)" '... and nothing else'
like "$(verdict)" '^0 n1: certificate valid: level standard, expires on ' 'the certificate is valid'
like "$(verdict --cluster lab)" '^0 ' '... in its cluster'
like "$(verdict --cluster prod)" '^1 .*invalid: the certificate belongs to cluster lab, this is prod$' \
    '... and invalid in another'
like "$(SLURM_CLUSTER_NAME=prod verdict)" '^1 .*this is prod$' '... also if Slurm names the cluster'
like "$(verdict --node n2)" '^1 n2: certificate invalid: the certificate belongs to node n1' \
    '... and on another node'
like "$(SLURMD_NODENAME=n1 muster certificate verify)" '^n1: certificate valid' \
    'Slurm names the node'
like "$(verdict --json)" '"node":"n1","verdict":"pass","message":"valid: ' 'a record'

chmod 755 "$dir" "$dir/munge"
like "$(setpriv --reuid 12345 --regid 12345 --clear-groups \
    "${top_builddir:-.}/muster" certificate verify --node n1)" '^n1: certificate valid' \
    'any user may verify'

shown=$(muster certificate show --node n1)
is $? 0 'show'
like "$shown" '^state        valid: level standard' '... has the state'
like "$shown" '^tests        links d0: 196 Mb/s$' '... the tests'
like "$shown" '^             nic d0: veth - .*mtu 1500 up' '... the fingerprint'
is "$(muster certificate show --node n1 --json | jq -r '.state, .node, .tests[0]' | xargs)" \
    'valid n1 links d0: 196 Mb/s' '... the same in JSON'
if python3 -c 'from jsonschema import Draft202012Validator' 2>/dev/null; then
    top=$(dirname "$0")/../..
    is "$({
        muster certificate show --node n1 --json
        muster certificate show --node n1 --json --file "$dir/none"
        muster certificate show --node n2 --json
        echo '{"path":"/c","state":"valid","message":"no node"}'
        echo '{"path":"/c","state":"good","message":"no such state"}'
        echo '{"path":"/c","state":"expired","message":"no end","node":"n1","cluster":"lab","level":"quick"}'
    } | python3 "$top/tests/command/validate.py" "$top/doc/certificate.schema.json")" yyynnn '... as doc/certificate.schema.json says'
else
    skip 1 'no jsonschema for python3'
fi

ip link set d0 mtu 1400
like "$(verdict)" \
    '^1 n1: certificate changed: the node has changed since it was certified: nic d0: was \.\.\. .*mtu 1500 up, is \.\.\. .*mtu 1400 up$' \
    'a changed MTU is a changed node'
like "$(muster certificate show --node n1)" '^state        changed: .*mtu 1400' '... also in show'
ip link set d0 mtu 1500
like "$(verdict)" '^0 ' '... until it is changed back'
ip link del d0
like "$(verdict)" '^1 .*changed: .*nic d0: gone' 'a missing interface is a changed node'
d0_up
like "$(verdict)" '^0 ' '... until it is back'

for seconds in 2 4 10; do # on a busy machine it may expire before it is issued, which fails
    ! request n1 | sed "s/^expires: .*/expires: $(($(date +%s) + seconds))/" |
        muster certificate issue --node n1 >/dev/null 2>&1 || break
done
sleep $seconds
like "$(verdict)" '^1 n1: certificate expired: the certificate expired on ' 'it expires'

issued=$(sed -n 's/^issued: \([0-9]*\) .*/\1/p' "$certificate")
is "$(muster revoke --node n1 --issued-until $((issued - 1)))" \
    "n1: certificate kept, it was issued later or by a newer muster: $certificate" 'a certificate issued later than --issued-until stays'
is "$(muster revoke --node n1 --issued-until "$issued")" "n1: certificate revoked: $certificate" 'it is revoked'
like "$(verdict)" '^1 .*missing' '... and then missing'
is "$(muster revoke --node n1)" "n1: no certificate found at $certificate" '... only once'
ok '... which is not an error' muster revoke
like "$(muster revoke --node n1 --json)" '"test":"certificate","metric":"revoked","node":"n1","value":0' \
    '... and a record'

echo 'SlurmctldHost=head' >"$dir/slurm.conf"
text=$(muster revoke --node n1 --file "$dir/slurm.conf" 2>&1)
is "$?" 1 'a file that is not a certificate is not removed'
like "$text" "^muster revoke: n1: certificate not revoked: $dir/slurm.conf is not a certificate" '... with the reason'
ok '... and still exists' test -s "$dir/slurm.conf"

check=${top_builddir:-.}/tests/record-check schema=$(dirname "$0")/../../doc/records.md
request n1 | muster certificate issue --node n1 --json >>"$dir/record"
muster certificate verify --node n1 --json >>"$dir/record"
for until in '--issued-until=1' '' ''; do muster revoke --node n1 --json $until >>"$dir/record"; done
if [ -x "$check" ]; then
    ok 'all records match doc/records.md' "$check" "$schema" <"$dir/record"
else
    skip 1 'record-check is not built'
fi
# the brake
like "$(muster certificate --brake=off --node n1 --json)" '"node":"n1","verdict":"pass","message":"brake lifted: ' \
    '--brake=off --json prints a record'
is "$(muster certificate --brake=on --node n1)" \
    'n1: brake on: this node refuses no job until the next muster check --health' '... and --brake=on undoes it'
done_testing
