#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A certificate that was altered, copied or forged is invalid.
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
altered 'an added line' '/^test/p'
altered 'a removed line' '/^test/d'
altered 'the fingerprint' 's/mtu 1500/mtu 9000/'
altered 'a trailing blank' 's/^node: n1/& /'
altered 'no seal' '/^seal/d'
altered 'two seals' '/^seal/p'
altered 'half a seal' 's/\(^seal: MUNGE:.\{20\}\).*/\1:/'
altered 'an empty file' '1,$d'

# copied, with another node name
restore
sed -i 's/^node: n1/node: n2/' "$certificate"
like "$(verdict --node n2)" '^1 n2: certificate invalid: the text was changed after it was sealed' \
    'a copy with another node name'

# forged by another user, who can use MUNGE, too
sed '/^seal/d' "$dir/good" >"$dir/text"
chmod 755 "$dir" "$dir/munge"
seal=$(setpriv --reuid 12345 --regid 12345 --clear-groups \
    munge --socket "$dir/munge/socket" <"$dir/text")
{ cat "$dir/text"; echo "seal: $seal"; } >"$certificate"
like "$(verdict)" '^1 .*invalid: the seal was made by uid 12345, expected uid 0' "a user's seal"
seal=$(munge --socket "$dir/munge/socket" <"$dir/text")
{ cat "$dir/text"; echo "seal: $seal"; } >"$certificate"
like "$(verdict)" '^0 ' "root's seal is valid"
seal=$(munge --socket "$dir/munge/socket" --ttl 1 <"$dir/text")
{ cat "$dir/text"; echo "seal: $seal"; } >"$certificate"
sleep 3
like "$(verdict)" '^0 ' "... also after the lifetime of MUNGE's credential"

restore
chmod 664 "$certificate"
like "$(verdict)" '^1 .*invalid: .*writable by others' 'writable by the group'
chmod 644 "$certificate"
chown 12345 "$certificate"
like "$(verdict)" '^1 .*invalid: .*belongs to uid 12345' "a file of another user"
rm "$certificate"
ln -s "$dir/good" "$certificate"
like "$(verdict)" '^1 .*invalid: .*is a symbolic link' 'a symbolic link'
rm "$certificate"
mkfifo "$certificate"
like "$(verdict)" '^1 .*invalid: .*not a regular file' 'a FIFO'
rm "$certificate"
restore
chmod 777 "$dir"
like "$(verdict)" '^1 .*invalid: the directory .* is writable by others' "a directory that everybody can write"
chmod 755 "$dir"
like "$(verdict)" '^0 ' 'the good certificate again'

# with another key munged cannot identify who made the seal
munged_stop
cp "$dir/munge/key" "$dir/munge/key.old"
munged_key
munged_start
like "$(verdict)" "^3 .*unverifiable: this node's MUNGE key does not decode the seal" 'another MUNGE key: unverifiable'
sed -i 's/ 196 / 197 /' "$certificate"
like "$(verdict)" '^3 .*unverifiable' '... also if it was altered'
restore

renew() { # OPTION...: prints exit status and output
    local status=0
    said=$(muster certificate --renew --node n1 "$@" 2>&1) || status=$?
    echo "$status $said"
}
like "$(renew --node n2)" '^1 .*n2: not renewed: certificate invalid: .* to node n1, this is n2' \
    "a certificate of another node is not renewed"
like "$(renew --cluster attic)" '^1 .*not renewed: .*to cluster lab, this is attic' \
    "... nor one of another cluster"
sed -i 's/^fingerprint kernel: .*/fingerprint kernel: 1.0/' "$certificate"
like "$(renew)" '^1 .*not renewed: certificate changed: .*kernel: was 1.0' '... nor one of a changed node'
restore
chmod 666 "$certificate"
like "$(renew)" '^1 .*not renewed: certificate invalid: .*writable by others' \
    '... nor one that others can write'
chmod 644 "$certificate"
like "$(setpriv --reuid 12345 --regid 12345 --clear-groups "${top_builddir:-.}/muster" certificate \
    --renew --node n1 2>&1)" 'needs root' '... nor by another user than root'
like "$(renew --old-socket "$dir/munge/nothing")" '^3 .*not renewed: certificate unverified: ' \
    'with --old-socket the munged there must answer'
like "$(renew --old-socket "$dir/munge/socket")" '^3 .*not renewed: certificate unverifiable: ' \
    '... and have the old key'
munged_old=$dir/munge.old
cp -a "$dir/munge" "$munged_old"
rm -f "$munged_old/socket"*
mv "$munged_old/key.old" "$munged_old/key"
setsid /usr/sbin/munged --foreground --force --key-file="$munged_old/key" \
    --socket="$munged_old/socket" --pid-file="$munged_old/pid" --log-file="$munged_old/log" \
    --seed-file="$munged_old/seed" >/dev/null 2>&1 &
within 60 munge -n --socket "$munged_old/socket"
sed -i 's/ 196 / 197 /' "$certificate"
like "$(renew --old-socket "$munged_old/socket")" '^1 .*not renewed: certificate invalid: .*the text was changed' \
    'an altered text is not renewed'
restore
like "$(renew --old-socket "$munged_old/socket")" '^0 n1: certificate renewed: level standard' \
    'a genuine certificate is renewed'
kill $!
wait $! 2>/dev/null
like "$(verdict)" '^0 ' '... and valid with the new key'
is "$(sed '/^seal/d' "$certificate")" "$(cat "$dir/text")" '... with the same text'
restore
like "$(renew)" '^0 n1: certificate renewed' "without --old-socket a file of root is renewed"
like "$(renew)" '^0 n1: nothing to renew' 'a valid seal is left unchanged'
done_testing
