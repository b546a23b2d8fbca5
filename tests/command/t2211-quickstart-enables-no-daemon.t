#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# ./quickstart installs packages whose daemons start neither now nor at the next boot; daemons that were
# enabled before stay enabled.
. "$(dirname "$0")/command.sh"
unshare -m true 2>/dev/null || skip_all 'no mount namespaces'

# A tree whose build does nothing, and a Debian stand-in that enables each daemon that it installs.
mkdir -p "$dir/tree/tests" "$dir/bin"
cp "$top_srcdir/quickstart" "$dir/tree"
program() { # PATH: makes a script of the text on standard input
    { echo '#!/bin/sh' && cat; } >"$1"
    chmod 755 "$1"
}
program "$dir/tree/configure" <<'END'
printf 'all install:\n' >Makefile
END
program "$dir/tree/tests/run" <<<'echo tested'
program "$dir/bin/dpkg-query" <<<'exit 1'
program "$dir/bin/update-rc.d" <<<'echo "update-rc.d $*" >>"$dir/said"; rm -f /etc/rc2.d/S??$1'
program "$dir/bin/apt-get" <<'END'
[ "$1" = install ] || exit 0
/usr/sbin/policy-rc.d && echo started >>"$dir/said"
mkdir -p /etc/systemd/system/multi-user.target.wants
ln -s /lib/systemd/system/opensm.service /etc/systemd/system/multi-user.target.wants/
ln -s /lib/systemd/system/mariadb.service /etc/systemd/system/mysql.service
ln -s ../init.d/opensm /etc/rc2.d/S01opensm
mv /etc/rc2.d/S01postfix /etc/rc2.d/S02postfix
ln -s ../init.d/munge /etc/rc2.d/K01munge
exit $fails
END
quick() { # STATUS OF apt-get, TEXT OF policy-rc.d: prints what will start at the next boot
    dir=$dir fails=$1 policy=${2-} unshare -m bash -c '
        for folder in /etc/systemd/system /etc/rc2.d /usr/sbin; do
            mkdir -p $folder && mount -t tmpfs tmpfs $folder || exit
        done
        ln -s /lib/systemd/system/ssh.service /etc/systemd/system/sshd.service
        ln -s ../init.d/ssh /etc/rc2.d/S01ssh
        ln -s ../init.d/postfix /etc/rc2.d/S01postfix
        [ -z "$policy" ] || { echo "$policy" >/usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d; }
        PATH=$dir/bin:$PATH "$dir/tree/quickstart" --test >"$dir/out" 2>&1
        echo "$?" >"$dir/status"
        (cd /etc && find systemd/system rc2.d /usr/sbin ! -type d ! -name "K*") | sort | xargs'
}
is "$(quick 0)" 'rc2.d/S01ssh rc2.d/S02postfix systemd/system/sshd.service' 'only daemons that were enabled before start at the next boot'
is "$(cat "$dir/status") $(tail -n 1 "$dir/out")" '0 tested' '... and the rest is done' || diag "$(cat "$dir/out")"
is "$(grep '^disable ' "$dir/tree/.lab/quickstart.log" | xargs)" 'disable opensm.service disable mysql.service' \
    '... and reported in the log'
is "$(cat "$dir/said")" 'update-rc.d opensm disable' 'no daemon was started'
is "$(quick 1) $(cat "$dir/status")" 'rc2.d/S01ssh rc2.d/S02postfix systemd/system/sshd.service 1' 'also if packages fail'
is "$(quick 0 $'#!/bin/sh\nexit 101')" '/usr/sbin/policy-rc.d rc2.d/S01ssh rc2.d/S02postfix systemd/system/sshd.service' \
    'also with a policy-rc.d of the site, which stays'

done_testing
