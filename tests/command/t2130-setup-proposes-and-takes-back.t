#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster setup proposes the lines that muster needs in a site's files, writes them with --yes, keeps the
# site's own lines, and removes its lines again, so that the files are as before, byte by byte.
. "$(dirname "$0")/command.sh"
needs muster
root=$dir

slurm=$root/etc/slurm
setup() {
    status=0
    said=$("$muster" setup --root "$root" "$@" 2>&1 </dev/null) || status=$?
}
# Prints a checksum of all files and their contents.
state() { (cd "$root" && find . -type f -print0 | sort -z | xargs -0 sha256sum) | sha256sum; }

"$top_srcdir/tests/fixtures/unpack" "$top_srcdir/tests/fixtures/dgx-h100.tree" "$root" >/dev/null ||
    skip_all 'no recorded tree'
rm -rf "${root:?}/etc"
mkdir -p "$slurm"
setup
is "$status" 3 'a host without slurm.conf: status 3'
like "$said" "^muster setup: $root: no slurm.conf in [^ ]+ or [^ ]+\$" '... in one line'

printf 'ClusterName=made\nHealthCheckInterval=60\n' >"$slurm/slurm.conf"
first=$(state)
setup
is "$status" 1 'proposed changes are not made: status 1'
is "$(state)" "$first" '... no file is changed'
like "$said" '^--- /dev/null' 'plugstack.conf is new'
like "$said" '^\+optional spank_muster.so$' '... with the plugin'
like "$said" '^\+HealthCheckProgram=/.*/muster/muster-healthcheck$' 'the health check'
like "$said" '^\+HealthCheckNodeState=ANY,CYCLE$' '... and the states in which it runs'
unlike "$said" '^\+HealthCheckInterval' '... and no key that the site has set'
like "$said" "^Nothing was changed; next: muster setup --root $root --yes\$" 'the next step is for the same files'

like "$said" '^@@ -2,0 \+3,4 @@$' '... the block is at the end'
unlike "$said" 'muster\.conf' 'a head gets no advice about a fabric'

printf 'ClusterName=made\nHealthCheckInterval=0\n' >"$slurm/slurm.conf"
setup
like "$said" '^HealthCheckInterval is 0 in slurm.conf, so slurmd runs no health check: ' 'an interval that turns it off is reported'
program=$(sed -n 's/^+HealthCheckProgram=//p' <<<"$said")
printf 'ClusterName=made\nHealthCheckProgram=%s\n' "$program" >"$slurm/slurm.conf"
setup
like "$said" '^HealthCheckInterval is not set in slurm.conf' '... and a missing interval'
printf 'ClusterName=made\nHealthCheckInterval=60\n' >"$slurm/slurm.conf"
setup
unlike "$said" '^HealthCheckInterval is' '... but not one that is set'

# The file is edited while muster setup waits for an answer.
if command -v script >/dev/null; then
    mkfifo "$root/answers"
    script -qefc "'$muster' setup --root '$root'" /dev/null <"$root/answers" >"$root/asked" 2>&1 &
    exec 3>"$root/answers"
    ok 'at a terminal it asks for confirmation' within 60 grep -q 'Make these changes' "$root/asked"
    echo SlurmctldHost=head >>"$slurm/slurm.conf"
    echo y >&3
    exec 3>&-
    status=0
    wait $! || status=$?
    is "$status" 3 'a file that was changed meanwhile: status 3'
    like "$(cat "$root/asked")" 'slurm.conf: was changed meanwhile and is left as it is' '... with the reason'
    is "$(tail -n 1 "$slurm/slurm.conf")" 'SlurmctldHost=head' '... and the file is left unchanged'
    sed -i '$d' "$slurm/slurm.conf"
    rm -f "$root/answers" "$root/asked" "$slurm/plugstack.conf"
fi
chown 1234:1235 "$slurm/slurm.conf" 2>/dev/null || : # only root may
chmod 640 "$slurm/slurm.conf"
owner=$(stat -c '%u:%g %a' "$slurm/slurm.conf")

mask=$(umask)
umask 077 # root's umask by some hardening rules
setup --yes
umask "$mask"
is "$status" 0 '--yes makes the changes'
is "$(stat -c '%u:%g %a' "$slurm/slurm.conf")" "$owner" "... owner and mode of a file stay"
is "$(stat -c %a "$slurm/plugstack.conf")" 644 "... and every user can read a new file"
ok '... the plugin is on' grep -qx 'optional spank_muster.so' "$slurm/plugstack.conf"
ok '... so is the health check' grep -q '^HealthCheckProgram=' "$slurm/slurm.conf"
setup --yes
is "$status $(tail -n 1 <<<"$said")" '0 Nothing to do.' '--yes a second time: nothing to do'
setup --undo
is "$status" 1 '--undo without --yes changes nothing: status 1'
like "$said" "^Nothing was changed; next: muster setup --root $root --undo --yes\$" '... with its own next step'
like "$said" '^-optional spank_muster.so$' '... and shows what it would remove'
setup --undo --yes
is "$status" 0 '--undo --yes: status 0'
is "$(state)" "$first" '... every file is as before, and new files are gone'
setup --undo --yes
is "$status $said" '0 Nothing to do.' '... and a second time there is nothing to do'

host=$(cut -d. -f1 "$root/proc/sys/kernel/hostname")
echo "NodeName=$host" >>"$slurm/slurm.conf"
conf=$root$("$muster" doctor --here --root "$root" | sed -n 's,.*: no \(/.*/muster/muster.conf\): .*,\1,p')
setup --yes
is "$status" 0 'setup of a node: status 0'
like "$said" 'all nodes are like this one.*FabricInterfaces=[a-z][^ ]*, GPUsPerNode=8:' \
    '... proposes keys of muster.conf if all nodes are like it'
ok '... but writes no muster.conf: nodes may be of several kinds' test ! -e "$conf"
setup
is "$status $(tail -n 1 <<<"$said")" '0 Nothing to do.' '... and a second time there is nothing to do'
sed -i '/^NodeName=/s/$/ Gres=gpu:8/' "$slurm/slurm.conf"
setup
unlike "$said" 'GPUsPerNode' '... GPUs that slurm.conf has are not proposed'
mkdir -p "${conf%/*}"
printf 'GPUsPerNode=auto\nFabricInterfaces=\n' >"$conf"
setup --yes
is "$(cat "$conf")" $'GPUsPerNode=auto\nFabricInterfaces=' 'an existing muster.conf is left unchanged'
cat >>"$conf" <<'END'
# muster setup: begin; muster setup --undo takes this block out
GPUsPerNode=8
# muster setup: end
END
setup --undo --yes
is "$status" 0 'undo needs no valid muster.conf'
is "$(cat "$conf")" $'GPUsPerNode=auto\nFabricInterfaces=' '... and removes a block from it'
rm "$conf" "$slurm/plugstack.conf" 2>/dev/null || :

mkdir "$slurm/plugstack.conf.d"
echo 'include /etc/slurm/plugstack.conf.d/*.conf' >"$slurm/plugstack.conf"
printf '# off\n#optional spank_muster.so\n# more\n' >"$slurm/plugstack.conf.d/muster.conf"
echo HealthCheckProgram=/usr/sbin/nhc >>"$slurm/slurm.conf"
first=$(state)
setup --yes
is "$status" 0 "a package's line and a health check of the site: status 0"
ok '... the line is made active in place' \
    sh -c "sed -n 4p '$slurm/plugstack.conf.d/muster.conf' | grep -qx 'optional spank_muster.so'"
like "$said" '^HealthCheckProgram is /usr/sbin/nhc: let it call /' '... the program of the site is left, and reported'
unlike "$(cat "$slurm/slurm.conf")" 'muster' '... slurm.conf is left unchanged'
setup --undo --yes
is "$(state)" "$first" '... all files are as before'

echo 'required spank_muster.so' >"$slurm/plugstack.conf.d/site.conf"
setup
unlike "$said" 'spank_muster' "no second line if an included file has one of the site"
echo 'include plugstack.conf.d/*.conf' >"$slurm/plugstack.conf"
setup
unlike "$said" 'spank_muster' '... also with an include relative to its file'
rm "$slurm/plugstack.conf.d/site.conf"

printf '# muster setup: begin; muster setup --undo takes this block out\nx\n' >>"$slurm/plugstack.conf"
first=$(state)
setup --undo --yes
is "$status" 3 'a block without an end is an error'
like "$said" 'plugstack.conf: line 2: .* mend it by hand' '... with its line'
is "$(state)" "$first" '... nothing is changed'

# The second file cannot be written.
rm -r "${slurm:?}"/*
{ echo ClusterName=made && printf '#%.0s' {1..2000}; } >"$slurm/slurm.conf"
said=$(trap '' XFSZ && ulimit -f 1 && "$muster" setup --root "$root" --yes 2>&1)
is "$?" 3 'a file that cannot be written: status 3'
like "$said" 'slurm.conf: File too large' '... with the reason'
like "$said" "^muster setup: /etc/slurm/plugstack.conf was changed before; to undo: muster setup --root $root --undo\$" \
    '... and how to undo what was written before'

# A slurm.conf with another name.
mkdir "$root/named"
printf 'ClusterName=b\nNodeName=n1\n' >"$root/named/cluster-b.conf"
: >"$root/named/muster.conf"
export SLURM_CONF=$root/named/cluster-b.conf MUSTER_CONF=$root/named/muster.conf
said=$("$muster" setup 2>&1 </dev/null)
like "$said" "^\+\+\+ $root/named/cluster-b.conf\$" 'the file in SLURM_CONF has the health check'
unlike "$said" "named/slurm.conf" '... and not another file beside it'
printf '%s\n' '# muster setup: begin; muster setup --undo takes this block out' 'HealthCheckProgram=/x' \
    '# muster setup: end' >>"$SLURM_CONF"
like "$("$muster" setup --undo 2>&1 </dev/null)" "^\+\+\+ $root/named/cluster-b.conf\$" '... --undo finds the block there'
unset SLURM_CONF MUSTER_CONF

# A configless node.
rm -r "$slurm"
mkdir -p "$root/run/slurm/conf"
printf 'ClusterName=made\n' >"$root/run/slurm/conf/slurm.conf"
printf '%s\n' '# muster setup: begin; muster setup --undo takes this block out, and this file' '#' \
    '# muster setup: end' >"$root/run/slurm/conf/plugstack.conf"
first=$(state)
setup --yes
is "$status $(state)" "0 $first" 'files that slurmctld has sent are left unchanged'
like "$said" '^plugstack.conf comes from slurmctld: run muster setup on its host for the plugin' '... with a message'
setup --undo --yes
is "$status $(state)" "0 $first" '... also by --undo'
rm -r "$root/run/slurm"

# ... with its files at another path.
mkdir -p "$root/spool/conf-cache"
echo ClusterName=made >"$root/spool/conf-cache/slurm.conf"
ln -s spool/conf-cache "$root/conf"
like "$(SLURM_CONF=$root/conf/slurm.conf "$muster" setup 2>&1 </dev/null)" '^slurm.conf comes from slurmctld: ' \
    "a SLURM_CONF in the cache of slurmd comes from slurmctld"
rm -r "$root/spool" "$root/conf"
if [ -L /var/run ] && unshare -m true 2>/dev/null; then
    # shellcheck disable=SC2016 # the other shell expands it
    like "$(SLURM_CONF=/var/run/slurm/conf/slurm.conf unshare -m bash -c '
        mount -t tmpfs tmpfs /run && mkdir -p /run/slurm/conf && echo ClusterName=made >"$SLURM_CONF" &&
            "$1" setup' setup "$muster" 2>&1 </dev/null)" '^slurm.conf comes from slurmctld: ' '... also through /var/run'
fi

# Symbolic links.
outside=$root.outside
tap_cleanup() { rm -rf "$root" "$outside"; }
mkdir -p "$outside" "$slurm" "$root/shared"
echo ClusterName=made >"$root/shared/slurm.conf"
ln -s ../../shared/slurm.conf "$slurm/slurm.conf"
setup --yes
is "$status" 0 'a link below the root'
ok '... is followed' grep -q '^HealthCheckProgram=' "$root/shared/slurm.conf"
ok '... and stays a link' test -L "$slurm/slurm.conf"
rm "$slurm"/*
echo ClusterName=made >"$slurm/slurm.conf"
chmod o+w "$slurm"
setup --yes
is "$status $(ls "$slurm")" '3 slurm.conf' 'a directory where others can put links: status 3'
like "$said" "^muster setup: $slurm: belongs to UID .* mode ...[2367], .*; chmod go-w, or run muster setup as its owner\$" \
    '... is refused in one line'
chmod o-w "$slurm"
if chown 1234 "$root/etc" 2>/dev/null; then # only root may
    chown "$(id -u):1234" "$root/etc" && chmod 775 "$root/etc"
    setup --yes
    like "$said" "^muster setup: $root/etc: belongs to UID .* and GID 1234 and has mode 0775" \
        '... and so is one of another group that may write to it'
    chown 1234:"$(id -g)" "$root/etc" && chmod 755 "$root/etc"
    setup --yes
    like "$said" "^muster setup: $root/etc: belongs to UID 1234 " '... and so is one of another user'
    chown "$(id -u)" "$root/etc"
fi
ln -s ../../missing/plugstack.conf "$slurm/plugstack.conf"
setup --yes
is "$status" 3 'a dangling link: status 3'
like "$said" '^muster setup: .*/etc/slurm/plugstack.conf: is a link to nothing$' '... is refused in one line'
is "$(readlink "$slurm/plugstack.conf")" ../../missing/plugstack.conf '... and left unchanged'
rm "$slurm"/*
echo ClusterName=outside >"$outside/slurm.conf"
for link in slurm.conf plugstack.conf; do
    rm -f "$slurm"/*
    echo ClusterName=made >"$slurm/slurm.conf"
    echo '# none' >"$outside/plugstack.conf"
    ln -sf "$outside/$link" "$slurm/$link"
    before=$(cat "$outside"/*)
    setup --yes
    is "$status" 3 "a $link that is a link out of the root: status 3"
    like "$said" "^muster setup: .*/etc/slurm/$link: leads out of $root, to $outside/$link\$" '... is refused in one line'
    is "$(cat "$outside"/*)" "$before" '... and left unchanged'
done
rm -r "$slurm"
ln -s "$outside" "$slurm"
rm "$outside/plugstack.conf"
setup --yes
is "$status $(ls "$outside")" '3 slurm.conf' '... also for a file that does not exist yet'
done_testing
