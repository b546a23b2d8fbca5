#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The examples of systemd units and of Slurm's HealthCheckProgram name this installation's muster and
# are well formed. Packages do what they do before and after the installation; RPMs are reproducible.
. "$(dirname "$0")/command.sh"
[ -e "$top_builddir/etc/muster-certify.service" ] || skip_all 'the examples are not made'
cp "$top_builddir"/etc/muster-*.service "$top_builddir/etc/muster-healthcheck" \
    "$top_srcdir"/etc/muster-*.timer "$dir"
program=$(sed -n 's/^ExecStart=//p' "$dir/muster-check.service" | cut -d' ' -f1)
like "$program" '^/.*/muster$' 'a service has the absolute path of the program'
is "$(grep -l '@[a-z]*@' "$dir"/muster-*)" '' 'no placeholder is left'
like "$(tail -n 1 "$dir/muster-healthcheck")" "^exec $program check --health\$" 'the health check of slurmd has the same path'
ok 'the script has valid syntax' sh -n "$dir/muster-healthcheck"
for timer in certify certify-idle check; do
    ok "muster-$timer.timer waits a random time" grep -q '^RandomizedDelaySec=' "$dir/muster-$timer.timer"
done
is "$(grep -h '^ExecStart=' "$dir"/muster-certify*.service)" "ExecStart=$program certify --idle
ExecStart=-$program certify --suspects
ExecStart=$program certify --due" 'what the services run'
state=$(sed -n "s|^localstatedir = ||; T; s|\${prefix}|$(sed -n 's/^prefix = //p' "$top_builddir/Makefile")|; p" \
    "$top_builddir/Makefile")/lib/muster
is "$(sed -n 's/^ExecStartPre=.* //p; /^StateDirectory=/p' "$dir"/muster-*.service)" "$state
$state
$state" '... each makes the folder of the state, and no other'
for unit in certify certify-idle; do
    ok "the keeper outlives a killed run of muster-$unit.service" grep -q '^KillMode=process$' \
        "$dir/muster-$unit.service"
done
# two commands, and four timeouts to stop a command that hangs, end before the next nightly run may begin
delay=$(sed -n 's/^RandomizedDelaySec=\([0-9]*\)min$/\1/p' "$dir/muster-certify.timer")
hours=$(sed -n 's/^TimeoutStartSec=\([0-9]*\)h$/\1/p' "$dir/muster-certify.service")
stop=$(sed -n 's/^TimeoutStopSec=\([0-9]*\)min$/\1/p' "$dir/muster-certify.service")
ok 'a run that hangs ends before the next night' \
    [ "${hours:-0}" -gt 0 -a $((2 * 60 * ${hours:-24} + 4 * ${stop:-5})) -lt $((24 * 60 - ${delay:-0})) ]
ok '... so does that of idle nodes' grep -q '^TimeoutStartSec=' "$dir/muster-certify-idle.service"
for unit in certify certify-idle check; do
    ok "muster-$unit.service may lock any amount of memory" grep -q '^LimitMEMLOCK=infinity$' \
        "$dir/muster-$unit.service"
done
is "$(grep -E '^(ProtectSystem|ProtectHome|PrivateTmp|ReadWritePaths)=' "$dir/muster-check.service")" '' \
    'the check sees the mounts of the node'
if command -v systemd-analyze >/dev/null; then
    sed -i "s,$program,/bin/true," "$dir"/*.service # the program may not be installed yet
    ok 'systemd accepts the units' systemd-analyze --man=no verify "$dir"/*.service "$dir"/*.timer
    is "$(systemd-analyze --man=no verify "$dir"/*.service "$dir"/*.timer 2>&1 | grep "$dir")" '' \
        '... without a message'
    for unit in certify:30 certify-idle:30 check:35; do # exposure at most 3.0; 3.5 for the check, which sees all mounts
        ok "muster-${unit%:*}.service is hardened" systemd-analyze security --offline=true --no-pager \
            --threshold="${unit#*:}" "$dir/muster-${unit%:*}.service"
    done
else
    skip 5 'no systemd-analyze'
fi
# a package of a later version has other units
if unshare -m true 2>/dev/null; then
    mkdir "$dir/bin"
    printf '#!/bin/sh\necho "systemctl $*" >&2\n' >"$dir/bin/systemctl"
    chmod +x "$dir/bin/systemctl"
    # shellcheck disable=SC2016 # the other shell expands it
    configured() { # FOLDER-OF-RUN: what the package runs
        PATH=$dir/bin:$PATH unshare -m sh -c 'mount -t tmpfs tmpfs /run && mkdir -p "$1" &&
            sh "$2" configure 0.0.9' configured "$1" "$top_srcdir/packaging/debian/muster.postinst" 2>&1
    }
    is "$(configured /run/systemd/system)" 'systemctl --system daemon-reload' "a package's units are in force at once"
    is "$(configured /run/none)" '' '... only where systemd runs'
else
    skip 2 'no mount namespaces'
fi
# the user of the RPM, of a group that is there beforehand; and what is installed
mkdir "$dir/rpm"
printf '#!/bin/sh\n[ "$*" = "group $GROUP" ]\n' >"$dir/rpm/getent"
printf '#!/bin/sh\necho "$*"\n' >"$dir/rpm/useradd"
printf '#!/bin/sh\necho "$OLD"\n' >"$dir/rpm/rpm"
chmod +x "$dir"/rpm/*
before_rpm() { # GROUP-THAT-IS-THERE [INSTALLED]: what the RPM of 0.1.9-1 does
    sed -n '/^%pre$/,/^$/p' "$top_srcdir/packaging/rpm/muster.spec" |
        sed '1d; s/%{version}-%{release}.%{_target_cpu}/0.1.9-1.x86_64/' |
        PATH=$dir/rpm:$PATH GROUP=$1 OLD=${2-} sh -es $((1 + 0${2+1})) 2>&1
}
like "$(before_rpm '')" '^--system --user-group .* muster$' 'the RPM makes user and group'
like "$(before_rpm muster)" '^--system --gid=muster .* muster$' '... or the user for a group that is there'
like "$(before_rpm muster muster-0.1.9-1.x86_64)" '^--system --gid=muster .* muster$' '... also if it replaces itself'
is "$(before_rpm muster muster-0.1.10-1.x86_64)" "muster-0.1.10-1.x86_64 has left its state; the older \
muster-0.1.9-1.x86_64 cannot read it; remove muster and /var/lib/muster first" '... and refuses to replace a later one'
# an RPM of a program, with the times that the spec chooses
rpm_of() { # builds it, prints its checksum
    rpmbuild -bb --define "_topdir $dir/tree" --define '_buildhost localhost' "$dir/small.spec" >"$dir/said" 2>&1 || cat "$dir/said"
    cksum <"$(echo "$dir"/tree/RPMS/*/small-1-1.*.rpm)"
    rm -rf "$dir/tree"
}
if command -v rpmbuild >/dev/null; then
    {
        grep -E '^%global .*(source_date_epoch|buildtime)' "$top_srcdir/packaging/rpm/muster.spec"
        printf '%s\n' '%global debug_package %{nil}' 'Name: small' 'Version: 1' 'Release: 1' 'Summary: small' \
            'License: Apache-2.0' '%description' small '%build' 'echo "int main(void) { return 0; }" | gcc %{optflags} -g -o small -xc -' \
            '%install' 'mkdir -p %{buildroot}/opt' 'cp small %{buildroot}/opt' '%files' /opt/small
        sed -n '/^%changelog/,$p' "$top_srcdir/packaging/rpm/muster.spec"
    } >"$dir/small.spec"
    first=$(rpm_of)
    sleep 1.1 # so that the second is of another time
    is "$(rpm_of)" "$first" 'two RPMs of the same program are equal to the byte'
else
    skip 1 'no rpmbuild'
fi
# every option that the units use exists
for words in 'certify --suspects' 'certify --due' 'certify --idle'; do
    # shellcheck disable=SC2086 # two words
    ok "muster $words is an option" sh -c "'$top_builddir/muster' ${words% *} --help | grep -q -- ' ${words#* } '"
done
done_testing
