# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# certificate.sh - common parts of tests of certificates: a network namespace with one interface d0, a
# munged, and a configuration in $MUSTER_CONF, all removed when the test ends. Source it instead of
# tap.sh:
#
#   . "$(dirname "$0")/certificate.sh"
#   request n1 | muster certificate issue
#   $dir $certificate $pid              # scratch directory, path of the certificate, PID of munged

. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
if [ -z "$CERTIFICATE_NETWORK" ]; then
    [ -x "${top_builddir:-.}/muster" ] || skip_all 'muster is not built'
    [ "$(id -u)" -eq 0 ] || skip_all 'needs root'
    [ -x /usr/sbin/munged ] || skip_all 'no munged here'
    # without the machine's network, which may change while the test runs
    unshare --net --mount true 2>/dev/null || skip_all 'no namespaces here'
    trap - EXIT
    CERTIFICATE_NETWORK=own exec unshare --net --mount "$0" "$@"
fi
mount -t sysfs sysfs /sys || skip_all 'no sysfs of its own for a network namespace'
unset SLURMD_NODENAME SLURM_CLUSTER_NAME MUSTER_RUN

d0_up() {
    ip link add d0 type veth peer name d1 && ip link set d1 up && ip link set d0 mtu 1500 up
}
d0_up 2>/dev/null || skip_all 'no veth interfaces here'
dir=$(mktemp -d)
certificate=$dir/certificate
export MUSTER_CONF=$dir/muster.conf
cat >"$MUSTER_CONF" <<END
FabricInterfaces=d0
MungeSocket=$dir/munge/socket
CertificateFile=$certificate
END

munged_start() {
    setsid /usr/sbin/munged --foreground --force --socket "$dir/munge/socket" \
        --key-file "$dir/munge/key" --pid-file "$dir/munge/pid" --log-file "$dir/munge/log" \
        --seed-file "$dir/munge/seed" >/dev/null 2>&1 &
    pid=$!
    within 60 munge -n --socket "$dir/munge/socket" || bail 'munged does not start'
}

munged_stop() {
    { kill -KILL "$pid"; wait "$pid"; } 2>/dev/null
    rm -f "$dir/munge/socket"
}

munged_key() { (umask 077; head -c 1024 /dev/urandom >"$dir/munge/key"); }

tap_cleanup() {
    munged_stop
    rm -r "$dir"
}

mkdir "$dir/munge"
munged_key
munged_start

muster() { "${top_builddir:-.}/muster" "$@"; }

# Prints a request for certificates of these nodes, as muster certify writes it.
request() { # NODE...
    printf '%s\n' 'run: r1' 'cluster: lab' 'level: standard' "expires: $(($(date +%s) + 3600))"
    for _ in "$@"; do
        printf '%s\n' "node: $_" "test: links d0: 196 Mb/s"
    done
}

# Prints the exit status and the output of muster certificate verify.
verdict() { # OPTION...
    local said status=0
    said=$(timeout 60 "${top_builddir:-.}/muster" certificate verify --node n1 "$@" 2>&1) || status=$?
    echo "$status $said"
}
