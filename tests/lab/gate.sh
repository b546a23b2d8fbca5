# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# gate.sh - for lab tests of the gate, instead of spank.sh: certificates made by the muster command of
# .lab/prefix, or the one that MUSTER names.

. "$(dirname "${BASH_SOURCE[0]}")/spank.sh"
muster_find
certificate=/var/lib/muster/certificate

# Starts a lab with the plugin whose nodes keep their certificates in $certificate.
gate_lab_up() { # LAB-OPTION...
    local host
    spank_lab_up "$@"
    cp "$muster" "$work/muster" # where the nodes see it, wherever it is
    for host in $(cd "$top/.lab/$name" && ls -d n*[0-9]); do
        conf_add "$host" "CertificateFile=$certificate" GateBrake=off # a test of the brake sets it
    done
}

# Puts a certificate on a node, as muster certify does.
issue() { # NODE [SECONDS]
    printf '%s\n' 'run: r1' "cluster: $name" 'level: standard' \
        "expires: $(($(date +%s) + ${2:-3600}))" "node: $1" 'test: links eth1: 196 Mb/s' |
        lab on "$1" env MUSTER_CONF=/etc/muster/muster.conf "$work/muster" certificate issue \
            --node "$1" >/dev/null
}

# Heals the lab, then brings the certificate of n1 into the given state.
put_certificate() { # valid|missing|expired|changed|altered|copied
    local seconds
    lab heal >/dev/null
    issue n1
    case $1 in
    valid) ;;
    missing) lab on n1 rm "$certificate" ;;
    expired)
        for seconds in 1 3 9; do # on a busy machine a short one expires before it is issued, and issue fails
            issue n1 $seconds 2>/dev/null && break
        done
        sleep $seconds.1
        ;;
    changed) lab fault wrong-mtu n1 eth1 >/dev/null ;;
    altered) lab on n1 sed -i 's/196 Mb/200 Mb/' "$certificate" ;;
    copied)
        issue n2
        lab on n2 cat "$certificate" | lab on n1 tee "$certificate" >/dev/null
        ;;
    esac
}

# Sets all three policies of n1; muster.conf accepts each key only once.
policies() { # ON-MISSING ON-EXPIRED ON-CHANGED
    sed -i '/^On/d' "$top/.lab/$name/n1/etc/muster/muster.conf"
    conf_add n1 "OnMissing=$1" "OnExpired=$2" "OnChanged=$3"
}

# Waits until a node is drained, then resumes it: srun may report a refusal before slurmctld drains the node.
resume() { # NODE
    within 60 is_in "$1" drained
    lab run scontrol update nodename="$1" state=resume
    within 60 is_in "$1" idle
}
