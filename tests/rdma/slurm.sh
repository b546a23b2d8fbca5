# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# slurm.sh - a Slurm cluster inside a guest, for tests there: source it in the guest and call
# slurm_up. Two nodes, n1 and n2, each a slurmd with a hostname, /tmp and /dev/shm of its own, in the
# guest's network namespace, because soft-RoCE works in no other. n1 has rxe1, n2 has rxe2.
# Changes of the guest's /etc and /var end with it. May be set before: slurm_nodes='n1' for one node,
# and slurm_rails for its rails; slurm_layout, the CPUs as in slurm.conf; slurm_binding, a task plugin.

slurm_node() { # NUMBER
    echo "NodeName=n$1 NodeHostname=n$1 NodeAddr=127.0.0.$(($1 + 1)) Port=682$1" \
        "${slurm_layout:-CPUs=2} RealMemory=200 State=UNKNOWN"
}

slurm_conf() {
    local node
    echo "TaskPlugin=${slurm_binding:-task/none}"
    cat <<'END'
ClusterName=guest
SlurmctldHost=head(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
MpiDefault=pmix
ProctrackType=proctrack/linuxproc
JobAcctGatherType=jobacct_gather/none
PropagateResourceLimitsExcept=MEMLOCK
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd.%n
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.%n.pid
SlurmctldLogFile=/run/slurmctld.log
SlurmdLogFile=/run/slurmd.%n.log
MailProg=/bin/true
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MessageTimeout=60
TCPTimeout=10
SlurmdTimeout=300
END
    for node in ${slurm_nodes:-n1 n2}; do
        slurm_node "${node#n}"
    done
    echo 'PartitionName=guest Nodes=ALL Default=YES State=UP'
}

slurm_cgroups() {
    local controller
    mount -t tmpfs cgroup /sys/fs/cgroup
    for controller in freezer devices memory cpuset cpuacct; do
        mkdir "/sys/fs/cgroup/$controller"
        mount -t cgroup -o $controller cgroup "/sys/fs/cgroup/$controller" 2>/dev/null ||
            rmdir "/sys/fs/cgroup/$controller"
    done
    printf 'CgroupPlugin=cgroup/v1\nCgroupMountpoint=/sys/fs/cgroup\n' >/etc/slurm/cgroup.conf
}

# Starts a node, with a muster.conf of its own.
# shellcheck disable=SC2016
slurm_node_up() { # NUMBER
    unshare --uts --mount sh -c '
        hostname n$1
        mount --make-rprivate /
        mount -t tmpfs -o mode=1777 tmp /tmp
        mount -t tmpfs -o mode=1777 shm /dev/shm
        mkdir -p /run/muster$1
        printf "FabricInterfaces=%s\n" "${2:-rxe$1}" >/run/muster$1/muster.conf
        mount --bind /run/muster$1 /etc/muster
        ulimit -l unlimited
        exec slurmd -D -N n$1' sh "$1" "${slurm_rails-}" >"/run/slurmd.n$1.out" 2>&1 </dev/null &
}

slurm_up() { # PLUGIN
    local try node ready
    mkdir -p /etc/slurm /etc/muster /var/spool/slurmctld /var/log/munge /var/lib/munge /run/munge /etc/munge
    printf '127.0.0.1 head localhost\n127.0.0.2 n1\n127.0.0.3 n2\n' >/etc/hosts
    head -c 128 /dev/urandom >/etc/munge/munge.key
    chown -R munge:munge /etc/munge /var/log/munge /var/lib/munge /run/munge
    chmod 700 /etc/munge /var/log/munge /var/lib/munge
    chmod 600 /etc/munge/munge.key
    chmod 755 /run/munge
    setpriv --reuid=munge --regid=munge --clear-groups /usr/sbin/munged --num-threads=2
    slurm_conf >/etc/slurm/slurm.conf
    slurm_cgroups
    echo "required $1" >/etc/slurm/plugstack.conf
    hostname head
    slurmctld -D >/run/slurmctld.out 2>&1 </dev/null &
    for node in ${slurm_nodes:-n1 n2}; do
        slurm_node_up "${node#n}"
    done
    ready="$(wc -w <<<"${slurm_nodes:-n1 n2}") idle"
    for try in {1..900}; do
        [ "$(sinfo -h -o %t -N 2>/dev/null | sort | uniq -c | xargs)" != "$ready" ] || return 0
        sleep 0.2
    done
    echo "slurm_up: the nodes are not idle after $((try / 5)) s" >&2
    sinfo -N -l >&2
    tail -n 20 /run/slurm*.out /run/slurm*.log >&2
    return 1
}
