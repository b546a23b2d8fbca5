# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# slurm.sh - configuration and daemons of the lab's Slurm, and waiting for them.

readonly gpus=8

# Parses the list of up --names, one name per node. Sets count, too.
names_read() {
    local each
    names=${names//,/ }
    for each in $names; do
        [[ $each =~ ^[A-Za-z0-9][A-Za-z0-9._-]*$ ]] || usage_error "'$each' is no name of a node"
    done
    each=$(wc -w <<<"$names")
    [ "${count:-$each}" = "$each" ] || usage_error "$count nodes, but $each names"
    count=$each
}

slurm_name() { # NODE: its NodeName
    local list
    read -ra list <<<"$names"
    echo "${list[${1#n} - 1]:-$1}"
}

host_of() { # NODENAME
    local host
    for host in $(node_names); do
        if [ "$(slurm_name "$host")" = "$1" ]; then echo "$host"; fi
    done
}

node_list() { # [FIRST LAST]: n[1-4], for Slurm's files
    local first=${1:-1} last=${2:-$nodes}
    if [ -n "$names" ]; then
        cut -d' ' -f"$first-$last" <<<"$names" | tr ' ' ,
    elif [ "$first" -eq "$last" ]; then
        echo "n$first"
    else
        echo "n[$first-$last]"
    fi
}

nodes_conf() {
    local host rest="CPUs=16 Boards=1 SocketsPerBoard=2 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=16000 Gres=gpu:$gpus State=UNKNOWN"
    if [ -z "$names" ]; then
        echo "NodeName=$(node_list) $rest"
        return
    fi
    for host in $(node_names); do
        echo "NodeName=$(slurm_name "$host") NodeHostname=$host NodeAddr=$(address_of "$host") $rest"
    done
}

# With accounting, jobs have a time limit within the backfill window, so that the scheduler can plan.
times() {
    if [ $accounting = no ]; then echo MaxTime=INFINITE; else echo MaxTime=1-0 DefaultTime=1:00:00; fi
}

slurm_conf() {
    cat <<END
# Written by lab up.
ClusterName=$name
$(printf 'SlurmctldHost=%s\n' $(controllers))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
MpiDefault=$(mpi_default)

# The nodes' processes: cgroups constrain GPUs, and no task is bound to the machine's few cores.
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup
TaskPluginParam=none
JobAcctGatherType=jobacct_gather/none
PropagateResourceLimits=NONE
GresTypes=gpu
PrologFlags=Alloc

StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
SlurmctldDebug=info
SlurmdDebug=info
MailProg=/bin/true

# A node that stops answering is asked again after a third of SlurmdTimeout and is down after it.
SlurmdTimeout=120
# The backup takes over if the first controller has not answered for longer than this.
SlurmctldTimeout=$([ -n "$backup" ] && echo 3 || echo 60)
MessageTimeout=$((nodes > 64 ? 60 : 10))
TCPTimeout=$((nodes > 64 ? 15 : 2))
KillWait=5
UnkillableStepTimeout=50
ReturnToService=2

SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
END
    if [ "$nodes" -gt 1 ]; then
        echo 'TopologyPlugin=topology/tree'
    fi
    [ $accounting = no ] || accounting_conf
    if [ -n "$site" ]; then
        site_nodes
        site_partitions
        return
    fi
    cat <<END

SchedulerType=sched/backfill
SchedulerParameters=bf_interval=5,batch_sched_delay=0$(scheduler_extra)
$(nodes_conf)
PartitionName=lab Nodes=ALL Default=YES $(times) State=UP OverSubscribe=NO
END
}

topology_conf() {
    echo '# Written by lab up.'
    echo "SwitchName=leaf1 Nodes=$(node_list 1 "$half")"
    echo "SwitchName=leaf2 Nodes=$(node_list $((half + 1)) "$nodes")"
    echo 'SwitchName=spine Switches=leaf[1-2]'
}

gres_conf() {
    cat <<END
# Written by lab up.
AutoDetect=off
$(if [ -n "$site" ]; then cat "$state/site.gres"; else echo "NodeName=$(node_list) Name=gpu File=/dev/gpu[0-$((gpus - 1))]"; fi)
END
}

cgroup_conf() {
    cat <<END
# Written by lab up.
CgroupPlugin=cgroup/v1
CgroupMountpoint=/sys/fs/cgroup
ConstrainDevices=yes
ConstrainCores=no
ConstrainRAMSpace=no
END
}

muster_conf() {
    cat <<END
# Written by lab up. A veth reports 10 Gb/s whatever it is shaped to, so the speed is set here.
ManagementInterface=eth0
FabricInterfaces=eth[1-2]
NominalSpeed=eth[1-2]:${rail_mbps}Mb/s
END
}

plugstack_conf() {
    if [ -n "$plugin" ]; then
        echo "$plugin_need $plugin"
    fi
}

slurm_configure() {
    local host dir
    dir=$state/head/etc
    slurm_conf >"$dir/slurm/slurm.conf"
    gres_conf >"$dir/slurm/gres.conf"
    cgroup_conf >"$dir/slurm/cgroup.conf"
    mpi_conf >"$dir/slurm/mpi.conf"
    plugstack_conf >"$dir/slurm/plugstack.conf"
    if [ "$nodes" -gt 1 ]; then
        topology_conf >"$dir/slurm/topology.conf"
    fi
    muster_conf >"$dir/muster/muster.conf"
    for host in $(hosts); do
        [ "$host" != head ] || continue
        cp "$dir"/slurm/* "$state/$host/etc/slurm/"
        cp "$dir"/muster/* "$state/$host/etc/muster/"
    done
    {
        echo '127.0.0.1 localhost'
        echo '::1 localhost ip6-localhost ip6-loopback'
        for host in $(hosts); do
            echo "$(address_of "$host") $host"
        done
    } >"$state/hosts"
}

daemon_alive() { # HOST DAEMON
    host_do "$1" pgrep -x "$2" >/dev/null
}

munged_start() { # HOST
    host_do "$1" setpriv --reuid=munge --regid=munge --clear-groups /usr/sbin/munged \
        --num-threads=2 </dev/null
}

munged_restart() { # HOST
    host_do "$1" sh -c 'pkill -x munged; while pgrep -x munged >/dev/null; do sleep 0.02; done
        rm -f /run/munge/*'
    munged_start "$1"
}

slurmctld_start() { # CONTROLLER
    local deadline=$((SECONDS + 120))
    host_do "$1" /usr/sbin/slurmctld </dev/null
    while [ $SECONDS -lt $deadline ]; do
        if host_do head timeout 5 scontrol ping 2>/dev/null | grep -q "at $1 .*UP"; then
            return 0
        fi
        sleep 0.05
    done
    die "slurmctld does not start: $(tail -n 3 "$state/$1/var/log/slurm/slurmctld.log")"
}

slurmd_start() { # NODE
    host_do "$1" /usr/sbin/slurmd </dev/null
}

slurmd_restart() { # NODE
    # If slurmctld refuses the node (gres count), slurmd does not end while a SPANK epilog waits for slurmctld.
    host_do "$1" sh -c 'pkill -x slurmd; i=0; while pgrep -x slurmd >/dev/null; do
        sleep 0.02; i=$((i + 1)); [ $i -ne 500 ] || pkill -KILL -x slurmd; done'
    slurmd_start "$1"
}

# Prints one line per node: NAME|STATE|REASON.
node_states() {
    host_do head timeout 20 sinfo -h -N -o '%N|%T|%E' </dev/null | awk -F'|' '!seen[$1]++'
}

# Waits until every node answers: idle, in use or drained.
nodes_wait() { # SECONDS
    local states waiting deadline=$((SECONDS + $1))
    while :; do
        states=$(node_states) && [ -n "$states" ] || states='head|slurmctld does not answer|'
        waiting=$(awk -F'|' '$2 !~ /^(idle|mixed|allocated|reserved|planned|drained|draining)$/' <<<"$states")
        [ -n "$waiting" ] || return 0
        if [ $SECONDS -ge $deadline ]; then
            warn "not ready: $(awk -F'|' '{ printf "%s%s %s (%s)", sep, $1, $2, $3; sep = ", " }' <<<"$waiting")"
            return 1
        fi
        sleep 0.1
    done
}
