#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# install.t - tests the packages that packaging/build has built for a Debian release, on a running cluster:
# installation, activation, a certification, an upgrade, a refused downgrade, removal, purge. Prints TAP.
#
#   packaging/install.t [RELEASE]    bookworm (the default), trixie or unstable
top=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$top/tests/tap.sh"

suite=${1:-bookworm}
packages=$top/.lab/packages/$suite
name=packages-$$ hosts='head n1 n2'
all='muster libspank-muster muster-collectives muster-trainer muster-doc'
compgen -G "$packages/muster_*.deb" >/dev/null || bail "no packages of $suite: packaging/build $suite"
[ "$(id -u)" -eq 0 ] || skip_all 'the lab needs root'

lab() { "$top/tests/lab/lab" -L "$name" "$@"; }
tap_cleanup() { lab down >/dev/null; }
output=$(MUSTER_LAB_RELEASE=packages-$suite lab up -n 2 2>&1) || bail "lab up: $output"
work=$top/.lab/$name/work
mkdir -p "$work/now" "$work/next"
# Debian's Slurm 26.05 is built without PMIx, so no MPI program of two ranks starts there
has_pmix() { [ "$(cd "$top/.lab/roots" && compgen -G "packages-$suite/usr/lib/*/slurm-wlm/mpi_pmix.so")" ]; }

# Debian's plugstack.conf, which the lab has replaced
for host in $hosts; do
    echo 'include /etc/slurm/plugstack.conf.d/*.conf' >"$top/.lab/$name/$host/etc/slurm/plugstack.conf"
done

# Replaces the lab's mounts by plain directories, as a site has: a purge leaves mounted directories.
plain_folders() { # HOST
    # shellcheck disable=SC2016 # in the host
    lab on "$1" sh -ec 'for folder in /etc/muster /var/lib/muster; do
        cp -a $folder /tmp/folder && umount $folder && cp -a /tmp/folder/. $folder && rm -r /tmp/folder
    done' </dev/null
}
for host in $hosts; do
    plain_folders "$host" || bail "$host: its folders stay mounted"
done

# Copies a package, as a later version.
later() { # PACKAGE-FILE
    local tree=$work/tree version
    dpkg-deb -R "$1" "$tree"
    version=$(dpkg-deb -f "$1" Version)
    grep -rlF "$version" "$tree/DEBIAN" | xargs sed -i "s/${version//./\\.}/$version+later/g"
    dpkg-deb -b --root-owner-group "$tree" "$work/next/${1##*/}" >/dev/null
    rm -rf "$tree"
}
for package in $all; do
    cp "$packages/${package}_"*.deb "$work/now/"
    later "$work/now/${package}_"*.deb
done

on_all() { # COMMAND...
    local host
    for host in $hosts; do
        lab on "$host" env DEBIAN_FRONTEND=noninteractive "$@" </dev/null || return
    done
}
installed() { # HOST: prints "PACKAGE STATE" of each package that dpkg knows
    # shellcheck disable=SC2086
    lab on "$1" dpkg-query -W -f '${Package} ${db:Status-Abbrev}\n' $all 2>/dev/null | sort | xargs
}
# Slurm prints a message about a missing optional plugin, and runs the job.
jobs_run() { [ "$(lab run srun -N2 hostname 2>/dev/null | sort | xargs)" = 'n1 n2' ]; }
restart_slurmd() {
    local node
    for node in n1 n2; do
        lab on $node sh -c 'pkill -x slurmd; while pgrep -x slurmd; do sleep 0.1; done; slurmd' </dev/null >/dev/null
    done
    lab heal >/dev/null
}
explained() { lab run srun -N1 --muster-explain true 2>&1; }
certificates() {
    local node
    for node in n1 n2; do lab on $node muster certificate verify >/dev/null 2>&1 && echo $node; done | xargs
}
are_certified() { # TEST-NAME
    if has_pmix; then is "$(certificates)" 'n1 n2' "$1"; else skip 1 "$1: this Slurm has no PMIx"; fi
}

# Runs the commands of doc/quickstart.md, word for word: the first on all hosts, the others on the head. The
# site's muster.conf stays, because a lab's links are slower than sysfs says.
for host in $hosts; do
    echo force-confold | lab on "$host" tee /etc/dpkg/dpkg.cfg.d/lab >/dev/null
done
mapfile -t commands < <(sed -n 's/^ *       # //p' "$top/doc/quickstart.md")
ok 'the first hour takes at most five commands' test "${#commands[@]}" -le 5
ok "${commands[0]}" on_all sh -c "cd '$work/now' && ${commands[0]}"
for command in "${commands[@]:1}"; do
    if has_pmix || [[ $command != 'muster certify'* ]]; then
        ok "$command" lab run sh -c "$command"
    else
        like "$(lab run sh -c "$command" 2>&1)" 'MPI started each of 2 ranks alone; check that srun.s --mpi' \
            "$command: without PMIx it says why it certifies no node"
    fi
done
are_certified 'doc/quickstart.md ends with certificates'
ok 'the other packages install' on_all dpkg -i "$work"/now/*.deb
like "$(installed n1)" '^(lib|)spank-muster ii|^libspank-muster ii .*muster ii' 'dpkg has them as installed'
ok "... the site's muster.conf stays" lab on n1 grep -q '^NominalSpeed' /etc/muster/muster.conf
ok '... the user of the battery exists' lab on n2 id muster
ok '... and the directory of its state' lab on n2 test -d /var/lib/muster
ok 'jobs run, the plugin is off' jobs_run
unlike "$(explained)" 'UCX_' '... and does nothing'
is "$(lab on n1 sh -c 'ls /etc/systemd/system/*/muster* 2>/dev/null')" '' 'no unit is enabled'

# switched on
on_all sed -i 's/^#optional/optional/' /etc/slurm/plugstack.conf.d/muster.conf
like "$(explained)" 'UCX_' 'switched on, the plugin explains what a step gets'
lab run muster certify --level quick >"$work/words" 2>&1 </dev/null
is $? "$(if has_pmix; then echo 0; else echo 3; fi)" 'muster certify' || diag "$(cat "$work/words")"
are_certified '... certifies'
ok 'muster-train is there' lab on n1 muster-train --version
ok '... muster-codec is there' lab on n1 muster-codec --version

# a later version
echo '# by the site' | lab on n1 tee -a /etc/muster/muster.conf >/dev/null
run=$(lab run muster history --json | head -c 300)
ok 'a later version installs' on_all dpkg --force-confold -i "$work"/next/*.deb
like "$(lab on n1 dpkg-query -W -f '${Version}' muster)" 'later' '... dpkg has the later version'
are_certified '... certificates are kept'
is "$(lab run muster history --json | head -c 300)" "$run" '... the history is kept'
ok '... muster.conf keeps the lines of the site' lab on n1 grep -qx '# by the site' /etc/muster/muster.conf
like "$(explained)" 'UCX_' '... and the plugin is on as before'
refusal=$(lab on n1 dpkg --force-confold -i "$work"/now/muster_*.deb 2>&1 </dev/null)
isnt $? 0 'an older version is refused'
is "$(grep -c '^muster: .* has left its state' <<<"$refusal")" 1 '... in one line'
is "$(installed n1 | grep -o 'muster ii' | wc -l)" 2 '... and nothing is half done'

# removed, while the plugin's line stays
# shellcheck disable=SC2086
ok 'the packages are removed' on_all dpkg -r $all
not_ok '... the plugin is gone' lab on n1 sh -c 'ls /usr/lib/*/slurm-wlm/spank_muster.so'
ok '... its line stays' lab on n1 grep -q '^optional spank_muster.so' /etc/slurm/plugstack.conf.d/muster.conf
ok '... and jobs run' jobs_run
restart_slurmd
ok '... slurmd starts without it' jobs_run
if has_pmix; then
    ok '... the certificate stays' lab on n1 test -e /var/lib/muster/certificate
else
    skip 1 '... the certificate stays: none was written'
fi
not_ok '... so an older version is still refused' lab on n1 dpkg --force-confold -i "$work"/now/muster_*.deb
ok 'a removed package can be installed again' lab on n1 dpkg --force-confold -i "$work"/next/muster_*.deb
# shellcheck disable=SC2086
ok 'the packages are purged' on_all dpkg -P $all
for host in $hosts; do
    is "$(installed "$host")" '' "$host: dpkg knows nothing of them"
    is "$(lab on "$host" sh -c 'find / -xdev -name "*muster*" ! -path "/proc/*" ! -name muster-root \
        2>/dev/null | grep -v "^'"$top"'"
        ls -A /etc/muster /var/lib/muster /run/muster /etc/slurm/plugstack.conf.d 2>/dev/null |
        grep -v "^/" | grep -v "^$"')" '' "$host: nothing is left"
done
ok 'jobs run' jobs_run
done_testing
