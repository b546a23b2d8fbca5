# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# fault.sh - injecting faults and undoing them. Each line of the lab's file `faults` is an injected
# fault: KIND [NODE [ARGUMENT]]. A fault is recorded before it is injected, and undoing it twice
# does no harm.

# Reasons that Slurm itself gives a node that it drains or downs because of such faults.
readonly slurm_reasons='^(Not responding|gres/|Node unexpectedly rebooted|Prolog error|Epilog error|Kill task failed|Duplicate jobid|batch job complete failure|Low |none)'

plain_number() { # VALUE NAME MIN MAX
    if ! [[ $1 =~ ^[0-9]{1,6}$ ]] || [ "$1" -lt "$3" ] || [ "$1" -gt "$4" ]; then
        usage_error "$2 is '$1', not a number from $3 to $4"
    fi
}

fault_node() { # NODE
    if ! [[ $1 =~ ^n[1-9][0-9]*$ ]] || [ "${1#n}" -gt "$nodes" ]; then
        usage_error "no node '$1' in lab $name, it has n1 to n$nodes"
    fi
}

fault_rail() { # IFACE
    case $1 in
    eth1 | eth2) ;;
    *) usage_error "'$1' is not a rail, the rails are eth1 and eth2" ;;
    esac
}

fault_arguments() { # KIND COUNT MIN MAX USAGE
    if [ "$2" -lt "$3" ] || [ "$2" -gt "$4" ]; then
        usage_error "usage: $me fault $1 $5"
    fi
}

fault_record() {
    echo "$*" >>"$state/faults"
}

# Checks the arguments of a fault of one rail with one number, and records it.
rail_fault() { # KIND VALUE NAME MIN MAX NODE IFACE [VALUE]
    fault_arguments "$1" $(($# - 5)) 2 3 "NODE IFACE [$3]"
    fault_node "$6"
    fault_rail "$7"
    plain_number "$2" "$3" "$4" "$5"
    fault_record "$1" "$6" "$7" "$2"
}

gpu_devices() { # NODE: makes all device files as they should be
    host_do "$1" sh -c 'i=0; while [ $i -lt '$gpus' ]; do
        rm -f /dev/gpu$i; mknod -m 666 /dev/gpu$i c 4 $((20 + i)); i=$((i + 1)); done'
}

node_freeze() { # NODE
    local freezer _
    freezer=$(freezer_of "$1")
    for _ in {1..1000}; do
        echo FROZEN >"$freezer"
        [ "$(<"$freezer")" != FROZEN ] || return 0
        sleep 0.02
    done
    die "$1 does not freeze"
}

node_thaw() { # NODE
    echo THAWED >"$(freezer_of "$1")"
}

fault_slow_rail() { # NODE IFACE [MBPS]
    local mbps=${3:-$((rail_mbps / 4))}
    rail_fault slow-rail "$mbps" MBPS 1 100000 "$@"
    link_shape "$1" "$2" "$mbps"
    print_info "$1: $2 runs at $mbps Mb/s instead of $rail_mbps"
}

fault_rail_down() { # NODE IFACE
    fault_arguments rail-down $# 2 2 'NODE IFACE'
    fault_node "$1"
    fault_rail "$2"
    fault_record rail-down "$1" "$2"
    link_set "$1" "$2" down
    print_info "$1: $2 has no carrier"
}

fault_wrong_mtu() { # NODE IFACE [MTU]
    local mtu=${3:-1500}
    rail_fault wrong-mtu "$mtu" MTU 1280 65535 "$@"
    link_mtu "$1" "$2" "$mtu"
    print_info "$1: $2 has MTU $mtu instead of 9000"
}

fault_slow_uplink() { # [MBPS]
    local nominal mbps
    nominal=$(uplink_mbps)
    mbps=${1:-$((nominal / 4))}
    fault_arguments slow-uplink $# 0 1 '[MBPS]'
    plain_number "$mbps" MBPS 1 1000000
    fault_record slow-uplink "$mbps"
    uplink_shape "$mbps"
    print_info "the uplink between leaf1 and leaf2 runs at $mbps Mb/s instead of $nominal"
}

fault_missing_gpu() { # NODE [INDEX]
    local index=${2:-3}
    fault_arguments missing-gpu $# 1 2 'NODE [INDEX]'
    fault_node "$1"
    plain_number "$index" INDEX 0 $((gpus - 1))
    fault_record missing-gpu "$1" "$index"
    host_do "$1" rm -f "/dev/gpu$index"
    print_info "$1: /dev/gpu$index has gone"
}

fault_gres_lies() { # NODE [device|twice|count]
    local how=${2:-device} last=$((gpus - 1))
    fault_arguments gres-lies $# 1 2 'NODE [device|twice|count]'
    fault_node "$1"
    case $how in
    device | twice | count) ;;
    *) usage_error "'$how' is not a lie of gres-lies, they are device, twice and count" ;;
    esac
    fault_record gres-lies "$1" "$how"
    case $how in
    device)
        host_do "$1" sh -c "rm -f /dev/gpu$last; mknod -m 666 /dev/gpu$last c 1 7"
        print_info "$1: gres.conf names /dev/gpu$last, which is no GPU but another /dev/full"
        ;;
    twice)
        host_do "$1" sh -c "rm -f /dev/gpu$last; mknod -m 666 /dev/gpu$last c 4 $((20 + last - 1))"
        print_info "$1: gres.conf names /dev/gpu$last, which is /dev/gpu$((last - 1)) again"
        ;;
    count)
        sed -i "s/\[0-$last\]/[0-$((last - 1))]/" "$state/$1/etc/slurm/gres.conf"
        print_info "$1: gres.conf names $last GPUs, slurm.conf $gpus"
        ;;
    esac
    slurmd_restart "$1"
}

fault_munge_key() { # NODE
    fault_arguments munge-key $# 1 1 NODE
    fault_node "$1"
    fault_record munge-key "$1"
    head -c 128 /dev/urandom >"$state/$1/etc/munge/munge.key"
    munged_restart "$1"
    print_info "$1: munged runs with another key"
}

fault_slurmd_killed() { # NODE
    fault_arguments slurmd-killed $# 1 1 NODE
    fault_node "$1"
    fault_record slurmd-killed "$1"
    host_do "$1" pkill -KILL -x slurmd || true
    print_info "$1: slurmd is killed"
}

fault_cut_off() { # NODE
    fault_arguments cut-off $# 1 1 NODE
    fault_node "$1"
    fault_record cut-off "$1"
    node_links "$1" down
    print_info "$1: all links are cut at the switches"
}

node_links() { # NODE up|down
    local iface
    for iface in eth0 eth1 eth2; do
        link_set "$1" $iface "$2"
    done
}

# Cuts the links first, so that no peer sees the processes end, then kills all but process 1.
node_power_off() { # NODE
    node_links "$1" down
    host_do "$1" sh -c 'kill -KILL -1' || true
}

fault_powered_off() { # NODE
    fault_arguments powered-off $# 1 1 NODE
    fault_node "$1"
    fault_record powered-off "$1"
    node_power_off "$1"
    print_info "$1: has no power"
}

fault_rebooted() { # NODE [SECONDS]
    local seconds=${2:-1}
    fault_arguments rebooted $# 1 2 'NODE [SECONDS]'
    fault_node "$1"
    plain_number "$seconds" SECONDS 0 3600
    fault_record rebooted "$1" "$seconds"
    node_power_off "$1"
    # a reboot clears what is in memory
    host_do "$1" sh -c ': >/dev/kmsg; ipcrm --all; find /dev/shm /run/muster -type f -delete 2>/dev/null' || true
    sleep "$seconds"
    node_links "$1" up
    munged_restart "$1"
    host_do "$1" /usr/sbin/slurmd -b </dev/null
    print_info "$1: was off for $seconds s, slurmd says that it has booted"
}

fault_frozen() { # NODE
    fault_arguments frozen $# 1 1 NODE
    fault_node "$1"
    fault_record frozen "$1"
    node_freeze "$1"
    print_info "$1: every process is stopped"
}

fault_undo() { # KIND NODE ARGUMENT...
    case $1 in
    slow-rail) link_shape "$2" "$3" "$rail_mbps" ;;
    rail-down) link_set "$2" "$3" up ;;
    wrong-mtu) link_mtu "$2" "$3" 9000 ;;
    slow-uplink) uplink_shape "$(uplink_mbps)" ;;
    missing-gpu) gpu_devices "$2" ;;
    gres-lies)
        gpu_devices "$2"
        cp "$state/head/etc/slurm/gres.conf" "$state/$2/etc/slurm/gres.conf"
        slurmd_restart "$2"
        ;;
    munge-key)
        munge_key "$2"
        munged_restart "$2"
        ;;
    cut-off | powered-off) node_links "$2" up ;;
    frozen) node_thaw "$2" ;;
    slurmd-killed | rebooted | slurmdbd-killed | mariadb-killed) ;;
    *) devicefault_undo "$@" || linkfault_undo "$@" || hostfault_undo "$@" || die "unknown fault '$*' in $state/faults" ;;
    esac
}

# Whether the head reaches a node: slurmd listens, and MUNGE credentials are valid both ways.
node_answers() { # NODE
    host_do head timeout 5 bash -c "exec 3<>/dev/tcp/$1/6818" 2>/dev/null &&
        host_do head munge -n | host_do "$1" unmunge >/dev/null 2>&1 &&
        host_do "$1" munge -n </dev/null | host_do head unmunge >/dev/null 2>&1
}

# Restarts slurmd on nodes that the controller has lost, and resumes nodes that Slurm itself drained
# or downed. A node that muster or a person drained stays drained.
nodes_recover() {
    local node status reason restarted=' ' taken deadline=$((SECONDS + 300)) # slurmctld retries to end a job after 90 s
    while :; do
        taken=
        while IFS='|' read -r node status reason; do
            case $status in
            *\** | down* | unknown* | inval*)
                if [[ $restarted != *" $node "* ]]; then
                    restarted+="$node "
                    slurmd_restart "$(host_of "$node")"
                fi
                ;;
            esac
            case $status in
            drain* | down* | inval* | fail*)
                if [[ $reason =~ $slurm_reasons ]]; then
                    taken+=" $node"
                    host_do head scontrol update "nodename=$node" state=resume 2>/dev/null || true
                fi
                ;;
            esac
        done < <(node_states)
        if [ -z "$taken" ] && nodes_wait 2 2>/dev/null; then
            break
        fi
        if [ $SECONDS -ge $deadline ]; then
            nodes_wait 0
            die "Slurm keeps taking away$taken"
        fi
        sleep 0.1
    done
    for node in $(node_names); do
        until node_answers "$node"; do
            [ $SECONDS -lt $deadline ] || die "$node does not answer the head"
            sleep 0.1
        done
    done
}

# Prints the injected faults in the order of undoing: processes, links, keys, devices, and last those
# for which slurmd has to start again.
faults_injected() {
    sort -u "$state/faults" | awk '
        BEGIN { split("frozen cut-off powered-off rebooted rail-down flaky-rail long-rail lossy-rail corrupt-rail " \
                      "lossy-path lossy-uplink " \
                      "slow-cores slow-disk slow-host slow-leaf slow-path slow-rail slow-sends " \
                      "slow-receives wrong-mtu path-mtu slow-uplink munge-key " \
                      "missing-gpu gres-lies slurmd-killed mariadb-killed slurmdbd-killed kernel-log", kind, " ")
                for (i in kind) rank[kind[i]] = i }
        { print rank[$1], $0 }' | sort -n | cut -d' ' -f2-
}

faults_heal() {
    local fault node
    while read -ra fault; do
        print_info "healing ${fault[*]}"
        fault_undo "${fault[@]}" </dev/null
    done < <(faults_injected)
    for node in $(hosts); do
        daemon_alive "$node" munged || munged_restart "$node"
    done
    for node in $(node_names); do
        daemon_alive "$node" slurmd || slurmd_start "$node"
    done
    accounting_heal
    nodes_recover
    : >"$state/faults"
}
