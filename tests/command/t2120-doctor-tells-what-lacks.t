#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster doctor --here reports what muster lacks on a synthetic node, with a cure; its bundle contains no
# secret.
. "$(dirname "$0")/command.sh"
needs muster
root=$dir
umask 022 # the files of a site that users can read

value() { sed -n "s/^$1 = //p" "$top_builddir/Makefile" | head -n 1; }
bin=$(value prefix)/bin
state=$(value localstatedir)/lib
state=${state/'${prefix}'/$(value prefix)}
mkdir -p "$root"/{etc/slurm/plugstack.conf.d,opt/plugins,spool,sys/class/net,proc} "$root$bin" "$root$state"
for program in launch links collectives; do
    install -m 755 /dev/null "$root$bin/muster-$program"
done
cat >"$root/etc/slurm/slurm.conf" <<'END'
ClusterName=made
SlurmdSpoolDir=/spool
PluginDir=/opt/plugins
MpiDefault=pmix_v4
AccountingStoragePass=hunter2
END
echo 'include /etc/slurm/plugstack.conf.d/*.conf' >"$root/etc/slurm/plugstack.conf"
echo '#optional spank_muster.so' >"$root/etc/slurm/plugstack.conf.d/muster.conf"
: >"$root/opt/plugins/spank_muster.so"
echo muster:x:77:77::/:/usr/sbin/nologin >"$root/etc/passwd"

doctor() {
    status=0
    page=$("$muster" doctor --here --root "$root" "$@" 2>&1) || status=$?
}
doctor
like "$page" '^pass +version +[^ ]+: muster [0-9]' 'its version'
like "$page" '^pass +slurm ' 'slurm.conf is there'
like "$page" '^warn +plugin +[^ ]+: off: ' 'a plugin whose line is a comment is off'
like "$page" '^ +cure: .*make its line in plugstack.conf active' '... with the cure'
like "$page" '^pass +battery ' 'the battery'
like "$page" '^pass +user +[^ ]+: muster, UID 77' 'its user'
like "$page" '^pass +spool ' 'the spool'
like "$page" '^pass +state ' 'the directory of its state, which muster makes, may be missing'

sed -i 's,^SlurmdSpoolDir=.*,SlurmdSpoolDir=/spool/slurmd.%n,' "$root/etc/slurm/slurm.conf"
doctor
like "$page" '^pass +spool ' '... also with a pattern in its last part'
sed -i 's,^SlurmdSpoolDir=.*,SlurmdSpoolDir=/spool,' "$root/etc/slurm/slurm.conf"

release=$(PATH=$PATH:/usr/sbin slurmd -V 2>/dev/null)
if [ -z "$release" ]; then
    skip 1 'no slurmd to ask for the release of Slurm'
elif [[ $release == *\ 22.* ]]; then
    like "$page" '^warn +pmix .*can hang on busy nodes' 'mpi/pmix of this Slurm loses connections'
else
    like "$page" '^pass +pmix .*nothing to set' 'mpi/pmix of this Slurm loses no connections'
fi
echo PMIxDirectConn=False >"$root/etc/slurm/mpi.conf"
doctor
like "$page" '^pass +pmix ' '... mpi.conf is read'

conf=$(value sysconfdir)/muster/muster.conf
conf=${conf/'${prefix}'/$(value prefix)}
mkdir -p "$root${conf%/*}" && echo MTU=zzz >"$root$conf"
doctor
like "$page" "^fail +configuration +[^ ]+: $conf:1: MTU=zzz: " 'a muster.conf that is not valid'
like "$page" '^ +cure: correct the line .*right for all of them' '... with a cure that suits nodes of several kinds'
echo MTU=9000 >"$root$conf"
doctor
like "$page" "^pass +configuration +[^ ]+: $conf is valid, checksum " '... and one that is valid'
chmod 600 "$root$conf" # as an editor may leave it with umask 077
doctor
like "$page" "^fail +configuration +[^ ]+: $conf has mode 0600: users' srun cannot read it" \
    '... and one that users cannot read is reported'
echo NoSuchKey=1 >"$root$conf"
echo MTU=9001 >"$root/named.conf"
doctor --config "$root/named.conf" --bundle "$root/named.tar"
like "$page" "^pass +configuration +[^ ]+: $root/named.conf is valid, checksum " '... --config names another file'
is "$(tar -xOf "$root/named.tar" muster-doctor/muster.conf)" 'MTU=9001' '... which the bundle has'
like "$(MUSTER_CONF=$root/named.conf "$muster" doctor --here 2>&1)" \
    "^pass +configuration +[^ ]+: $root/named.conf is valid, " '... and so does MUSTER_CONF'
echo CertificateFile=/muster/certificate >"$root/named.conf"
doctor --config "$root/named.conf"
like "$page" '^pass +state +[^ ]+: / has room' 'for a directory of the state that muster makes in /, / is looked at'
rm "$root$conf"
chmod 640 "$root/etc/slurm/plugstack.conf"
doctor
like "$page" '^fail +plugin +[^ ]+: /etc/slurm/plugstack.conf has mode 0640: Slurm starts no srun of users' \
    'a plugstack.conf that users cannot read is reported'
chmod 644 "$root/etc/slurm/plugstack.conf"

sed -i 's/^#//' "$root/etc/slurm/plugstack.conf.d/muster.conf"
doctor
like "$page" '^pass +plugin +[^ ]+: optional by /etc/slurm/plugstack.conf' 'an active line is found in an included file'
echo 'include plugstack.conf.d/*.conf' >"$root/etc/slurm/plugstack.conf"
doctor
like "$page" '^pass +plugin +[^ ]+: optional by ' '... also with an include relative to the file'
echo 'include /etc/slurm/plugstack.conf.d/*.conf' >"$root/etc/slurm/plugstack.conf"
sed -i 's,^PluginDir=.*,PluginDir=/opt/none:/opt/plugins,' "$root/etc/slurm/slurm.conf"
doctor
like "$page" '^pass +plugin +[^ ]+: optional by .*, in /opt/plugins' '... in each directory of PluginDir'
sed -i 's,^PluginDir=.*,PluginDir=/opt/none,' "$root/etc/slurm/slurm.conf"
doctor
like "$page" '^fail +plugin +[^ ]+: optional by .*, not in /opt/none' '... and in no other'
sed -i 's,spank_muster,/opt/plugins/&,' "$root/etc/slurm/plugstack.conf.d/muster.conf"
doctor
like "$page" '^pass +plugin +[^ ]+: optional by .*, in /opt/plugins' '... or where its line says'
sed -i 's,/opt/plugins/,,' "$root/etc/slurm/plugstack.conf.d/muster.conf"
sed -i 's,^PluginDir=.*,PluginDir=/opt/plugins,' "$root/etc/slurm/slurm.conf"
rm -r "$root/opt/plugins/spank_muster.so" "$root/etc/passwd" "$root$bin/muster-links" "$root/spool" "$root$state"
doctor
is "$status" 1 'missing preconditions fail'
like "$page" '^fail +plugin +[^ ]+: optional by .*, not in /opt/plugins' '... a missing plugin'
like "$page" '^fail +user +[^ ]+: no user muster' '... no user'
like "$page" '^fail +battery .*/muster-links: No such file' '... a program of the battery'
like "$page" '^fail +spool +[^ ]+: /spool: No such file' '... the spool'
like "$page" '^fail +state +[^ ]+: .*: No such file' '... the directory above that of the state'
echo 'Include missing.conf' >>"$root/etc/slurm/slurm.conf"
doctor
like "$page" '^unknown +slurm +[^ ]+: /etc/slurm/slurm.conf:6: Include: ' '... a part of slurm.conf'
rm "$root/etc/slurm/slurm.conf"
doctor
like "$page" '^fail +slurm ' '... no slurm.conf'

# a finding that is truncated, at odd and even bytes of two-byte letters
for first in x xx; do
    printf 'SlurmdSpoolDir=/%s%s\n' "$first" "$(printf 'ö%.0s' {1..180})" >"$root/etc/slurm/slurm.conf"
    doctor --json
    like "$page" '^\{"host":"[^"]+","precondition":"spool","state":"fail","found":"/x' 'a truncated finding is a complete line'
done

# two rails in one /16, the default route in a /24
"$top_srcdir/tests/fixtures/unpack" "$top_srcdir/tests/fixtures/ethernet.tree" "$root/large" >/dev/null
mkdir -p "$root"/large/{etc/slurm,proc/sys/net/ipv4/neigh/default}
printf 'NodeName=DEFAULT CPUs=8\nNodeName=n[1-400]\nNodeName=m[1-90]\n' >"$root/large/etc/slurm/slurm.conf"
echo 1024 >"$root/large/proc/sys/net/ipv4/neigh/default/gc_thresh3"
doctor --root "$root/large"
like "$page" '^warn +neighbors .* holds 1024 addresses \(gc_thresh3\), .* may have 1234' 'a neighbor table that is too small'
like "$page" '^ +cure: set net.ipv4.neigh.default.gc_thresh3 ' '... with the cure'
echo 4096 >"$root/large/proc/sys/net/ipv4/neigh/default/gc_thresh3"
doctor --root "$root/large"
like "$page" '^pass +neighbors ' '... and one that is large enough'
doctor
like "$page" '^skip +neighbors ' '... and one that cannot be read'

mkdir "$root/named"
echo AccountingStoragePass=hunter2 >"$root/named/cluster-b.conf"
SLURM_CONF=$root/named/cluster-b.conf "$muster" doctor --here --bundle "$root/named/bundle.tar" >"$root/named/page" 2>&1
like "$(cat "$root/named/page")" "^pass +slurm +[^ ]+: $root/named/cluster-b.conf" 'the file of SLURM_CONF is read'
is "$(tar -xOf "$root/named/bundle.tar" muster-doctor/slurm/slurm.conf)" 'AccountingStoragePass=[left out]' \
    '... and is in the bundle'

printf '%s\n' AccountingStoragePass=hunter2 'AccountingStoragePass=\ ' 'hunter2=\' hunter2 ClusterName=made \
    >"$root/etc/slurm/slurm.conf"
printf 'Variable=%s\n' 'https_proxy set http://svc:hunter2@proxy:3128' 'HF_TOKEN sett hunter2' >"$root$conf"
echo HF_TOKEN:hunter2= >>"$root$conf"
doctor --json --bundle "$root/bundle.tar"
like "$page" '^\{"host":"[^"]+","precondition":"user","state":"fail","found":"no user muster",.*"cure":"[^"]+"\}$' \
    'JSON has an object for each finding'
is "$(tar -tf "$root/bundle.tar" | grep -cE 'page.txt|findings.jsonl|slurm/slurm.conf|plugstack.conf$')" 4 \
    'the bundle is a tar'
is "$(tar -xOf "$root/bundle.tar" muster-doctor/slurm/slurm.conf | xargs)" \
    'AccountingStoragePass=[left out] AccountingStoragePass=[left out] [left out] [left out] ClusterName=made' \
    '... without secrets, also on continued lines'
is "$(tar -xOf "$root/bundle.tar" muster-doctor/muster.conf | uniq -c | xargs)" '2 Variable=[left out] 1 [left out]' \
    '... also without the password of a proxy'
like "$(tar -xOf "$root/bundle.tar" muster-doctor/page.txt)" "$conf:2: \[left out\]" \
    '... or a wrong line that the page quotes'
is "$(grep -c hunter2 "$root/bundle.tar")" 0 '... anywhere'
is "$(stat -c %a "$root/bundle.tar")" 600 '... that only its owner may read'
doctor --bundle "$root/bundle.tar"
like "$page" 'bundle.tar: File exists' '... and overwrites no file'
like "$(trap '' XFSZ && ulimit -f 1 && "$muster" doctor --here --root "$root" --bundle "$root/full.tar" 2>&1)" \
    'full.tar: File too large' 'a full disk is reported'
ok '... and no part of a bundle is left' test ! -e "$root/full.tar"
is "$("$muster" doctor --root "$root" 2>&1 | head -n 1)" \
    'muster doctor: --root requires --here: a recorded tree has no controller' '--root without --here is refused'
done_testing
