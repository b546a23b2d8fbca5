#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A certificate that was altered, copied or forged is invalid.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/certificate.sh"

request n1 | muster certificate issue --node n1 >/dev/null
cp "$certificate" "$dir/good"
restore() { cp "$dir/good" "$certificate"; }
like "$(verdict)" '^0 ' 'a good certificate'

altered() { # WHAT SED-SCRIPT
    restore
    sed -i "$2" "$certificate"
    like "$(verdict)" '^1 n1: certificate invalid: ' "altered: $1"
}
altered 'the level' 's/^level: standard/level: full/'
altered 'a figure' 's/ 196 / 197 /'
altered 'the end' 's/^expires: 1/expires: 2/'
altered 'a line more' '/^test/p'
altered 'a line less' '/^test/d'
altered 'the fingerprint' 's/mtu 1500/mtu 9000/'
altered 'a blank at an end' 's/^node: n1/& /'
altered 'no seal' '/^seal/d'
altered 'two seals' '/^seal/p'
altered 'half a seal' 's/\(^seal: MUNGE:.\{20\}\).*/\1:/'
altered 'nothing' '1,$d'

# copied, with another node name
restore
sed -i 's/^node: n1/node: n2/' "$certificate"
like "$(verdict --node n2)" '^1 n2: certificate invalid: the seal belongs to a different text' \
    'a copy with another name'

# forged by another user, who can use MUNGE, too
sed '/^seal/d' "$dir/good" >"$dir/text"
chmod 755 "$dir" "$dir/munge"
seal=$(setpriv --reuid 12345 --regid 12345 --clear-groups \
    munge --socket "$dir/munge/socket" <"$dir/text")
{ cat "$dir/text"; echo "seal: $seal"; } >"$certificate"
like "$(verdict)" '^1 .*invalid: the seal was made by uid 12345, expected uid 0' "a user's seal"
seal=$(munge --socket "$dir/munge/socket" <"$dir/text")
{ cat "$dir/text"; echo "seal: $seal"; } >"$certificate"
like "$(verdict)" '^0 ' "root's would hold"
seal=$(munge --socket "$dir/munge/socket" --ttl 1 <"$dir/text")
{ cat "$dir/text"; echo "seal: $seal"; } >"$certificate"
sleep 3
like "$(verdict)" '^0 ' "... also when MUNGE's own time is over"

restore
chmod 664 "$certificate"
like "$(verdict)" '^1 .*invalid: .*writable by others' 'writable by the group'
chmod 644 "$certificate"
chown 12345 "$certificate"
like "$(verdict)" '^1 .*invalid: .*belongs to uid 12345' "another's file"
rm "$certificate"
ln -s "$dir/good" "$certificate"
like "$(verdict)" '^1 .*invalid: .*is a symbolic link' 'a symbolic link'
rm "$certificate"
mkfifo "$certificate"
like "$(verdict)" '^1 .*invalid: .*not a regular file' 'a FIFO'
rm "$certificate"
restore
chmod 777 "$dir"
like "$(verdict)" '^1 .*invalid: the directory .* is writable by others' "everybody's directory"
chmod 755 "$dir"
like "$(verdict)" '^0 ' 'and the good one again'

# with another key munged cannot identify who made the seal
munged_stop
cp "$dir/munge/key" "$dir/munge/key.old"
munged_key
munged_start
like "$(verdict)" "^3 .*unverifiable: this node's MUNGE key does not decode the seal" 'another key'
sed -i 's/ 196 / 197 /' "$certificate"
like "$(verdict)" '^3 .*unverifiable' '... nor whether it is altered'
restore

renew() { # OPTION...: prints exit status and output
    local status=0
    said=$(muster certificate --renew --node n1 "$@" 2>&1) || status=$?
    echo "$status $said"
}
like "$(renew --node n2)" '^1 .*n2: not renewed: certificate invalid: .* to node n1, this is n2' \
    "another node's is not sealed again"
like "$(renew --cluster attic)" '^1 .*not renewed: .*to cluster lab, this is attic' \
    "... nor another cluster's"
sed -i 's/^fingerprint kernel: .*/fingerprint kernel: 1.0/' "$certificate"
like "$(renew)" '^1 .*not renewed: certificate changed: .*kernel: was 1.0' '... nor that of what the node was'
restore
chmod 666 "$certificate"
like "$(renew)" '^1 .*not renewed: certificate invalid: .*writable by others' \
    '... nor one that others may have written'
chmod 644 "$certificate"
like "$(setpriv --reuid 12345 --regid 12345 --clear-groups "${top_builddir:-.}/muster" certificate \
    --renew --node n1 2>&1)" 'needs root' '... nor by a user'
like "$(renew --old-socket "$dir/munge/nothing")" '^3 .*not renewed: certificate unverified: ' \
    'with --old-socket the munged there has to know it'
like "$(renew --old-socket "$dir/munge/socket")" '^3 .*not renewed: certificate unverifiable: ' \
    '... by its key'
munged_old=$dir/munge.old
cp -a "$dir/munge" "$munged_old"
rm -f "$munged_old/socket"*
mv "$munged_old/key.old" "$munged_old/key"
setsid /usr/sbin/munged --foreground --force --key-file="$munged_old/key" \
    --socket="$munged_old/socket" --pid-file="$munged_old/pid" --log-file="$munged_old/log" \
    --seed-file="$munged_old/seed" >/dev/null 2>&1 &
within 60 munge -n --socket "$munged_old/socket"
sed -i 's/ 196 / 197 /' "$certificate"
like "$(renew --old-socket "$munged_old/socket")" '^1 .*not renewed: certificate invalid: .*the seal belongs to' \
    'a text that the old seal is not over is not sealed again'
restore
like "$(renew --old-socket "$munged_old/socket")" '^0 n1: certificate renewed: level standard' \
    'a genuine one is'
kill $!
wait $! 2>/dev/null
like "$(verdict)" '^0 ' '... and verified with the new key'
is "$(sed '/^seal/d' "$certificate")" "$(cat "$dir/text")" '... with the same text'
restore
like "$(renew)" '^0 n1: certificate renewed' "without --old-socket root's file is believed"
like "$(renew)" '^0 n1: nothing to renew' 'a seal that holds is left alone'
done_testing
