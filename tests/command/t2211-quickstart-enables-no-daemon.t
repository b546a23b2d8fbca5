#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# ./quickstart installs packages whose daemons start neither now nor at the next boot; what was to start
# before still does.
set -u
top_srcdir=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
. "$top_srcdir/tests/tap.sh"

unshare -m true 2>/dev/null || skip_all 'no mount namespaces'
work=$(mktemp -d)
tap_cleanup() { rm -rf "$work"; }

# A tree whose build does nothing, and a Debian without packages that enables what it installs.
mkdir -p "$work/tree/tests" "$work/bin"
cp "$top_srcdir/quickstart" "$work/tree"
program() { # PATH, its text on standard input
    { echo '#!/bin/sh' && cat; } >"$1"
    chmod 755 "$1"
}
program "$work/tree/configure" <<'END'
printf 'all install:\n' >Makefile
END
program "$work/tree/tests/run" <<<'echo tested'
program "$work/bin/dpkg-query" <<<'exit 1'
program "$work/bin/update-rc.d" <<<'echo "update-rc.d $*" >>"$work/said"; rm -f /etc/rc2.d/S??$1'
program "$work/bin/apt-get" <<'END'
[ "$1" = install ] || exit 0
/usr/sbin/policy-rc.d && echo started >>"$work/said"
mkdir -p /etc/systemd/system/multi-user.target.wants
ln -s /lib/systemd/system/opensm.service /etc/systemd/system/multi-user.target.wants/
ln -s /lib/systemd/system/mariadb.service /etc/systemd/system/mysql.service
ln -s ../init.d/opensm /etc/rc2.d/S01opensm
mv /etc/rc2.d/S01postfix /etc/rc2.d/S02postfix
ln -s ../init.d/munge /etc/rc2.d/K01munge
exit $fails
END
quick() { # STATUS OF apt-get, POLICY'S TEXT: what is to start at the next boot
    work=$work fails=$1 policy=${2-} unshare -m bash -c '
        for folder in /etc/systemd/system /etc/rc2.d /usr/sbin; do
            mkdir -p $folder && mount -t tmpfs tmpfs $folder || exit
        done
        ln -s /lib/systemd/system/ssh.service /etc/systemd/system/sshd.service
        ln -s ../init.d/ssh /etc/rc2.d/S01ssh
        ln -s ../init.d/postfix /etc/rc2.d/S01postfix
        [ -z "$policy" ] || { echo "$policy" >/usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d; }
        PATH=$work/bin:$PATH "$work/tree/quickstart" --test >"$work/out" 2>&1
        echo "$?" >"$work/status"
        (cd /etc && find systemd/system rc2.d /usr/sbin ! -type d ! -name "K*") | sort | xargs'
}
is "$(quick 0)" 'rc2.d/S01ssh rc2.d/S02postfix systemd/system/sshd.service' 'only what was to start before starts at the next boot'
is "$(cat "$work/status") $(tail -n 1 "$work/out")" '0 tested' '... and the rest is done' || diag "$(cat "$work/out")"
is "$(grep '^disable ' "$work/tree/.lab/quickstart.log" | xargs)" 'disable opensm.service disable mysql.service' \
    '... and told in the log'
is "$(cat "$work/said")" 'update-rc.d opensm disable' 'no daemon was started'
is "$(quick 1) $(cat "$work/status")" 'rc2.d/S01ssh rc2.d/S02postfix systemd/system/sshd.service 1' 'nor where packages fail'
is "$(quick 0 $'#!/bin/sh\nexit 101')" '/usr/sbin/policy-rc.d rc2.d/S01ssh rc2.d/S02postfix systemd/system/sshd.service' \
    'nor where the site has a policy of its own, which stays'

done_testing
