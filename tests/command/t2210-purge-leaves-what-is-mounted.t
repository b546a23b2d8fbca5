#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# apt-get purge removes muster's folders on the node, but not file systems that are mounted there, nor the
# journal of a run that is not over.
. "$(dirname "$0")/command.sh"
unshare -m true 2>/dev/null || skip_all 'no mount namespaces'
purged() { # MOUNTED[:WHAT]...: prints what is left of three folders with a file and a folder each
    unshare -m bash -c '
        postrm=$1
        shift
        for folder in /etc /var/lib /run; do
            mount -t tmpfs tmpfs $folder && mkdir $folder/muster || exit
        done
        for folder; do
            mkdir -p "${folder%:*}"
            case $folder in
            *:*) mkdir -p "${folder#*:}" && mount --bind "${folder#*:}" "${folder%:*}" ;;
            *) mount -t tmpfs tmpfs "$folder" ;;
            esac || exit
        done
        for folder in /etc/muster /var/lib/muster /run/muster "${@%:*}"; do
            mkdir -p "$folder/folder" && : >"$folder/folder/file"
        done
        [ -z "$LOCKED" ] || { mkdir /var/lib/muster/runs && : >/var/lib/muster/runs/gone &&
            exec 9>"/var/lib/muster/runs/$LOCKED" && flock 9; }
        mkdir -p /var/lib/systemd/timers && : >/var/lib/systemd/timers/stamp-muster-certify.timer
        sh "$postrm" purge 2>/dev/null || echo "status $?"
        ls /var/lib/systemd/timers
        find /etc/muster /var/lib/muster /run/muster -type f 2>/dev/null
        ls -d /etc/muster /var/lib/muster /run/muster 2>/dev/null' purged \
        "$top_srcdir/packaging/debian/muster.postrm" "$@"
}
is "$(purged)" '' 'nothing is left of the folders of the node'
is "$(purged /var/lib/muster)" '/var/lib/muster/folder/file
/var/lib/muster' 'a mounted folder stays'
own='/var/lib/muster/folder/file'
for shared in /var/lib/muster/shared '/var/lib/muster/two words'; do
    is "$(purged "$shared" | sort)" "/var/lib/muster
$own
$shared/folder/file" "... with everything beside the mount: $shared"
    is "$(purged "$shared:/var/lib/elsewhere" | sort)" "/var/lib/muster
$own
$shared/folder/file" '... also if mounted from the same file system'
done
is "$(LOCKED=20261120-161200-1a2b purged)" '/var/lib/muster/runs/20261120-161200-1a2b
/var/lib/muster' 'the journal of a run that is not over stays, those of others do not'
is "$(purged /var/lib/muster2)" '' 'a mount with a similar name keeps nothing'

done_testing
