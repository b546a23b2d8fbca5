#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whoever alters, copies or makes up a certificate has an invalid one.
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
altered 'a figure' 's/196/197/'
altered 'the end' 's/^expires: 1/expires: 2/'
altered 'a line more' '/^test/p'
altered 'a line less' '/^test/d'
altered 'the fingerprint' 's/mtu 1500/mtu 9000/'
altered 'a blank at an end' 's/^node: n1/& /'
altered 'no seal' '/^seal/d'
altered 'two seals' '/^seal/p'
altered 'half a seal' 's/\(^seal: MUNGE:.\{20\}\).*/\1:/'
altered 'nothing' '1,$d'

# copied, with the name changed
restore
sed -i 's/^node: n1/node: n2/' "$certificate"
like "$(verdict --node n2)" '^1 n2: certificate invalid: the seal was made over another text' \
    'a copy with another name'

# made up by another user, who can use MUNGE as well
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

# another key: munged cannot tell who made the seal, but that it was not the cluster's root
munged_stop
munged_key
munged_start
like "$(verdict)" '^1 .*invalid: the seal is not genuine' "another cluster's key"
done_testing
