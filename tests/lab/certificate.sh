# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# certificate.sh - for lab tests of certificates: a lab of two nodes and the muster command there.
# Instead of testlab.sh:
#
#   . "$(dirname "$0")/certificate.sh"
#   issue n1 n2                         # through Slurm, as muster certify does
#   verdict n1                          # exit status and line of muster certificate verify
#   $certificate                        # the certificate's path on each node

. "$(dirname "${BASH_SOURCE[0]}")/testlab.sh"
muster_find

lab_up -n 2
cp "$muster" "$work/muster" # where the nodes see it, wherever it is
muster=$work/muster
certificate=/var/lib/muster/certificate
cat >"$work/muster.conf" <<END
ManagementInterface=eth0
FabricInterfaces=eth[1-2]
CertificateFile=$certificate
END

request() { # SECONDS NODE...
    printf '%s\n' 'run: r1' 'cluster: lab' 'level: standard' "expires: $(($(date +%s) + $1))"
    shift
    for node in "$@"; do
        printf '%s\n' "node: $node" 'test: links eth1: 196 Mb/s' 'test: links eth2: 195 Mb/s'
    done
}

issue() { # NODE...: prints records
    request 3600 "$@" |
        lab run srun -N2 --export="ALL,MUSTER_CONF=$work/muster.conf" "$muster" certificate issue --json
}

verdict() { # NODE
    local said status=0
    said=$(lab on "$1" env MUSTER_CONF="$work/muster.conf" "$muster" certificate verify --node "$1" \
        2>&1) || status=$?
    echo "$status $said"
}
