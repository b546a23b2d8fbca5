#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# slurmd runs `muster check --health`: it prints nothing if all is well. If the site wants it, a node drains
# itself for a missing part, within the cap, and never if others have drained it.
. "$(dirname "$0")/certify.sh"

is_drained() { [[ $(lab run sinfo -h -n "$1" -o %T) == *drain* ]]; } # NODE

logged() { # NODE REGEX
    lab on "$1" grep -Eq "$2" /var/log/slurm/slurmd.log
}

# shellcheck disable=SC2154 # prefix is set in testlab.sh
cat >"$work/healthcheck" <<END
#!/bin/sh
read -r node </etc/hostname
: >"$work/checked.\$node"
exec "$prefix/libexec/muster/muster-healthcheck"
END
chmod 755 "$work/healthcheck"
slurm_conf_add "HealthCheckProgram=$work/healthcheck" HealthCheckInterval=4
all_check() { [ "$(compgen -G "$work/checked.n?" | wc -l)" = 4 ]; }
within 60 all_check # slurmd would end at the reconfiguration without its GPU
lab fault missing-gpu n1 >/dev/null
ok 'the failure is in the log of slurmd' within 60 logged n1 \
    'health_check failed: rc:1 output:muster check: n1: slurm.gres gpu3: .*/dev/gpu3 does not exist'
is "$(states)" 'n1 idle n2 idle n3 idle n4 idle' 'and drains no node unless the site wants it'

lab run scontrol update nodename=n4 state=drain reason='replace PSU'
lab fault missing-gpu n4 >/dev/null
for node in n1 n2 n3 n4; do
    conf_add $node HealthDrain=yes
done
ok 'with HealthDrain=yes it drains its node' within 60 is_drained n1
like "$(reason n1)" '^muster: gres_mismatch gpu3 ' 'with a reason that a technician can act on'
lab fault missing-gpu n2 >/dev/null
ok 'a second one is beyond DrainCap, and says so' within 60 logged n2 \
    'muster check: n2 not drained: muster has drained 1 node, the maximum of DrainCap'
is "$(states | cut -d' ' -f3-6)" 'n2 idle n3 idle' 'and the node stays in service'
ok 'the check of the node that others drained sees its fault too' within 60 logged n4 'slurm.gres gpu3'
is "$(reason n4)" 'replace PSU' 'and keeps its reason'
not_ok 'the check of a good node prints nothing' logged n3 'health_check'
lab heal >/dev/null
certify_settled -w 'n[1-3]'
is "$status $(states | cut -d' ' -f1-6)" '0 n1 idle n2 idle n3 idle' \
    'repaired, it is tested and released' || show

# the kernel log: an entry drains once
lab fault kernel-log n2 'nvme nvme0: Disabling device after reset failure: -19' >/dev/null
ok 'an entry of the kernel log drains its node' within 60 is_drained n2
like "$(reason n2)" '^muster: disk_failed nvme0 ' '... with its code and part'
ok '... the entry is recorded' within 60 lab on n2 grep -q '^nvme failed nvme0 1 .* 1 nvme nvme0: ' /run/muster/kernel-log
lab run scontrol update nodename=n2 state=resume
lab on n2 env MUSTER_CONF=/etc/muster/muster.conf SLURMD_NODENAME=n2 "$muster" check --health >/dev/null
is "$(states | cut -d' ' -f3-4)" 'n2 idle' 'resumed by hand, it is not drained for the same entry again'
lab heal >/dev/null

# a node whose slurmd is down while its certificate is revoked, and that is resumed by hand before slurmd runs
lab run scontrol update nodename=n3 comment='rack 7'
within 60 no_jobs
lab fault slurmd-killed n3 >/dev/null
lab run scontrol update nodename=n3 state=down reason=dead
output=$(lab run "$muster" revoke -w n3 2>&1) || :
like "$output" 'n3: its certificate is revoked in Slurm: its next health check removes it' \
    'a certificate that is out of reach is revoked in Slurm'
lab run scontrol update nodename=n3 state=resume
lab on n3 test -e /var/lib/muster/certificate || diag 'the certificate was gone before'
lab heal >/dev/null
ok 'the node, resumed by hand, removes it by itself' within 60 lab on n3 test ! -e /var/lib/muster/certificate
ok 'and its Comment is what the site wrote' within 60 sh -c \
    "'$lab_dir/lab' -L '$name' run scontrol show node n3 | grep -qx '   Comment=rack 7'" ||
    diag "$(lab run scontrol show node n3)" "$(lab on n3 tail -n 20 /var/log/slurm/slurmd.log)"
done_testing
