#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# On Slurm 23.11 and later certify writes level and end of a node's certificate into its Extra, beside
# what the site has there, and jobs that request it run on certified nodes only.
export MUSTER_LAB_RELEASE=${MUSTER_LAB_RELEASE:-trixie}
. "$(dirname "$0")/certify.sh"

[ "$release" != bookworm ] || skip_all "Slurm 22.05 knows no --extra"
extra() { lab run scontrol show node "$1" | sed -n 's/^ *Extra=//p'; }
change() { lab run scontrol update "nodename=$1" extra="$2"; }
# prints where a job that requests EXTRA runs
asking() { # EXTRA SRUN-OPTION...
    local s=${most_s:-60}
    lab run timeout $((s + 7)) srun -Q --immediate="$s" --extra "$@" hostname 2>/dev/null | sort | xargs
}
asking_in_vain() { most_s=8 asking "$@"; }

change n1 '{"rack":7}'
is "$(extra n1)" '{"rack":7}' "the site's own Extra"
is "$(asking_in_vain 'muster_level>=1' -N1)" '' 'no node is certified: such a job waits'

certify --no-drain --level quick -w n1,n2
is "$status $(verdicts)" '0 n1 pass n2 pass' 'two of four are certified' || show
like "$(extra n1)" '^\{"rack":7,"muster_level":1,"muster_expires":[0-9]{10}\}$' \
    'level and end are in Extra, beside what was there'
like "$(extra n2)" '^\{"muster_level":1,"muster_expires":[0-9]{10}\}$' 'and alone if nothing was there'
is "$(extra n3)" '' 'a node that was not certified has none'
expires=$(extra n2 | jq .muster_expires)
is "$(lab on n2 awk '$1 == "expires:" { print $2 }' /var/lib/muster/certificate)" "$expires" \
    "the end is the certificate's"

is "$(asking 'muster_level>=1' -N2)" 'n1 n2' 'a job that requests certified nodes gets these two'
is "$(asking_in_vain 'muster_level>=1' -N3)" '' '... and no third one'
is "$(asking_in_vain 'muster_level>=2' -N1)" '' 'a job that requests level standard gets none'
is "$(asking "muster_expires>$((expires - 60))" -N2)" 'n1 n2' 'the end can be requested'
is "$(asking_in_vain "muster_expires>$((expires + 60))" -N1)" '' '... and no certificate lasts longer'
is "$(asking 'muster_level>=1,rack=7' -N1)" n1 "together with the site's own"
is "$(lab run srun -N4 hostname | sort | xargs)" 'n1 n2 n3 n4' 'a job without a request gets any node'

# a failure and muster revoke remove level and end again
lab fault missing-gpu n2 >/dev/null
certify --no-drain --level quick -w n1,n2
like "$(verdicts)" 'n2 fail' 'n2 fails' || show
is "$(extra n2)" '' '... and is offered no longer'
lab heal >/dev/null
lab run "$muster" revoke -w n1 >/dev/null
is "$(extra n1)" '{"rack":7}' "revoke keeps the site's own values"

# a certificate that has ended
change n4 '{"muster_level":2,"muster_expires":1000000000}'
is "$(asking_in_vain "muster_level>=1,muster_expires>$(date +%s)" -N1)" '' 'a job that requests an end in the future gets no node whose certificate has ended'
lab run "$muster" certify --suspects >/dev/null 2>&1
is "$(extra n4)" '' 'certify --suspects removes a certificate that has ended, also without suspects'

# if the site does not want it
for host in head n1 n2 n3 n4; do
    conf_add $host WriteExtra=no
done
certify --no-drain --level quick -w n3,n4
is "$status $(extra n4)" '0 ' 'WriteExtra=no: certify writes no Extra' || show
done_testing
