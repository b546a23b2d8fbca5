#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# issue names the line of its request that is wrong, and leaves the certificate unchanged.
. "$(dirname "$0")/certificate.sh"

request n1 | muster certificate issue --node n1 >/dev/null
before=$(cksum <"$certificate")

refused() { # WHAT SED-SCRIPT MESSAGE
    local said status=0
    said=$(request n1 n2 | sed "$2" | muster certificate issue --node n1 2>&1) || status=$?
    like "$status $said" "^1 muster certificate: n1: no certificate: $3" "$1"
    is "$(cksum <"$certificate")" "$before" '... and nothing is written'
}
refused 'no cluster' '/^cluster/d' 'standard input: found no cluster'
refused 'no level' '/^level/d' 'standard input: found no level'
refused 'no expiry time' '/^expires/d' 'standard input: found no time in the future'
refused 'an expiry time in the past' 's/^expires: .*/expires: 1000/' \
    'standard input: found no time in the future'
refused 'an invalid expiry time' 's/^expires: .*/expires: soon/' \
    'standard input, line 4: expires: found "soon", expected seconds'
refused 'two levels' '/^level/p' 'standard input, line 4: level: found it a second time'
refused 'a level in two words' 's/^level: .*/level: very good/' 'the request has a value'
refused 'an escape in a test' 's/ 196/ \x1b[31m/' 'the request has a value'
refused 'a NUL byte' 's/ 196/ \x00/' 'standard input, line 6: found a NUL byte'
refused 'an unknown key' 's/^run/colour/' 'standard input, line 1: found "colour", expected run'
refused 'a key of the header after a node' '$a level: full' 'standard input, line 9: found "level", expected node, keep or test'
refused 'a node twice' 's/n2/n1/' 'standard input, line 7: node: found n1 a second time'
refused 'an invalid list' 's/^node: n2/node: n[2/' 'standard input, line 7: node: [^:]'
refused 'an invalid time to keep' 's/^node: n1/&\nkeep: soon/' 'standard input, line 6: keep: found "soon", expected seconds'
refused 'a node twice, once in a list' 's/^node: n2/node: n[1-2]/' 'standard input, line 7: node: found n1 a second time'
refused 'no nodes' '/^node/,$d' 'standard input: found no node'
refused 'no key' 's/.*/hello/' 'standard input, line 1: found "hello"'

request n1 | sed 's/^node: n1/node: n[0-1]/' | muster certificate issue --node n1 >/dev/null
is $? 0 'a block may be for a list of nodes'

# a pass at a lower level does not shorten a certificate of a higher level
quick() { # KEEP-UNTIL [SED-SCRIPT]
    request n1 | sed "s/^level: .*/level: quick/; s/^node: n1/&\nkeep: $1/; ${2-}" | muster certificate issue --node n1
}
level() { sed -n 's/^level: //p' "$certificate"; }
soon=$(($(date +%s) + 600))
request n1 | muster certificate issue --node n1 >/dev/null
before=$(cksum <"$certificate")
is "$(quick $soon)/$(cksum <"$certificate")" \
    "n1: certificate $certificate kept: its level is standard/$before" 'a certificate of a higher level stays'
is "$(request n1 | sed "s/^level: .*/level: quick/; s/^node: n1/&\nkeep: $soon/" | muster certificate issue --node n1 --json |
    jq -r '[.metric, .value // .message, .verdict] | join(" ")' | xargs)" \
    "level standard expires $(sed -n 's/^expires: \([0-9]*\).*/\1/p' "$certificate") pass" '... and the records have its level and expiry'
quick $((soon + 86400)) >/dev/null
is "$(level)" quick '... unless it expires soon'
request n1 | muster certificate issue --node n1 >/dev/null
is "$(level)" standard 'a certificate of a lower level does not stay'
quick $soon 's/ 196 .*/ 49 Mb\/s rail_slow/' >/dev/null
is "$(level)" quick '... nor one if a rail failed now'
request n1 | sed 's/ 196 .*/ 49 Mb\/s rail_slow/' | muster certificate issue --node n1 >/dev/null
quick $soon >/dev/null
is "$(level)" quick '... or had failed then'
request n1 | muster certificate issue --node n1 >/dev/null
sed -i 's/^level: .*/level: full/' "$certificate"
quick $soon >/dev/null
is "$(level)" quick '... nor a forged one'
request n1 | muster certificate issue --node n1 >/dev/null

chmod 755 "$dir"
touch "$dir/empty"
said=$(request n1 | setpriv --reuid 12345 --regid 12345 --clear-groups \
    "${top_builddir:-.}/muster" certificate issue --config "$dir/empty" --node n1 2>&1)
is "$? $said" '1 muster certificate: n1: no certificate: only root can seal one; run as root' \
    'another user than root cannot issue'
for words in 'certificate renew' 'certificate --brake=off' 'interfaces --apply' suspects; do
    said=$(setpriv --reuid 12345 --regid 12345 --clear-groups \
        "${top_builddir:-.}/muster" $words 2>&1)
    like "$? $said" "^2 muster ${words%% *}: .*needs root" "... muster $words"
done
chmod 777 "$dir"
said=$(request n1 | muster certificate issue --node n1 2>&1)
like "$? $said" '^1 .*the directory .* is writable by others' "a directory that everybody can write"
chmod 755 "$dir"
like "$(verdict)" '^0 ' 'the first certificate is still valid'

for words in '' 'forge' 'show verify' 'show --colour'; do
    muster certificate $words >/dev/null 2>&1 </dev/null
    is $? 2 "usage: muster certificate $words"
done
like "$(muster certificate --help)" '^Usage: muster certificate show\|verify\|issue' '--help'
like "$(muster revoke --help)" '^Usage: muster revoke' '--help of revoke'
muster revoke n1 >/dev/null 2>&1
is $? 2 'usage: muster revoke n1'
done_testing
