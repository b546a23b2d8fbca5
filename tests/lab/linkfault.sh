# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# linkfault.sh - faults of links other than a rail that is slower both ways: slow in one direction,
# only when both rails run, on a whole leaf, or intermittently; lost, late or damaged frames.

fault_slow_sends() { # NODE IFACE [MBPS]
    local mbps=${3:-$((rail_mbps / 4))}
    rail_fault slow-sends "$mbps" MBPS 1 100000 "$@"
    link_shape_sends "$1" "$2" "$mbps"
    print_info "$1: $2 sends at $mbps Mb/s instead of $rail_mbps"
}

fault_slow_receives() { # NODE IFACE [MBPS]
    local mbps=${3:-$((rail_mbps / 4))}
    rail_fault slow-receives "$mbps" MBPS 1 100000 "$@"
    link_shape_receives "$1" "$2" "$mbps"
    print_info "$1: $2 receives at $mbps Mb/s instead of $rail_mbps"
}

# Sends both rails of a node through one more link, as through one PCIe slot.
fault_slow_host() { # NODE [MBPS]
    local mbps=${2:-$((rail_mbps * 5 / 4))}
    fault_arguments slow-host $# 1 2 'NODE [MBPS]'
    fault_node "$1"
    plain_number "$mbps" MBPS 1 100000
    fault_record slow-host "$1" "$mbps"
    host_link_insert "$1" "$mbps"
    print_info "$1: eth1 and eth2 have $mbps Mb/s together instead of $rail_mbps each"
}

leaf_nodes() { # LEAF
    local node
    for node in $(node_names); do
        if [ "$(leaf_of "$node")" = "$1" ]; then echo "$node"; fi
    done
}

leaf_shape() { # LEAF MBPS
    local node
    for node in $(leaf_nodes "$1"); do
        link_shape "$node" eth1 "$2"
        link_shape "$node" eth2 "$2"
    done
}

fault_slow_leaf() { # LEAF [MBPS]
    local mbps=${2:-$((rail_mbps / 2))}
    fault_arguments slow-leaf $# 1 2 'LEAF [MBPS]'
    if [ -z "$(leaf_nodes "$1")" ]; then
        usage_error "no leaf '$1' with nodes in lab $name, they are leaf1 and leaf2"
    fi
    plain_number "$mbps" MBPS 1 100000
    fault_record slow-leaf "$1" "$mbps"
    leaf_shape "$1" "$mbps"
    print_info "$1: all its ports run at $mbps Mb/s instead of $rail_mbps"
}

# Slows only the path between two nodes, in both directions.
fault_slow_path() { # NODE PEER IFACE [MBPS]
    local mbps=${4:-$((rail_mbps / 4))}
    fault_arguments slow-path $# 3 4 'NODE PEER IFACE [MBPS]'
    fault_node "$1"
    fault_node "$2"
    fault_rail "$3"
    plain_number "$mbps" MBPS 1 100000
    fault_record slow-path "$1" "$2" "$3" "$mbps"
    path_shape "$1" "$2" "$3" "$mbps"
    path_shape "$2" "$1" "$3" "$mbps"
    print_info "$1 and $2: $3 has $mbps Mb/s between them instead of $rail_mbps"
}

# The file with the PID of a keeper, a process of the lab that runs as long as its fault is injected.
keeper_file() { # NAME
    echo "$state/keeper-$1"
}

keeper_start() { # NAME COMMAND [ARG...]
    local file
    file=$(keeper_file "$1")
    : >"$file"
    (
        state_unlock
        for root in $(cgroup_roots); do
            echo $BASHPID >"$root/cgroup.procs"
        done
        "${@:2}"
    ) </dev/null >/dev/null 2>&1 &
    echo $! >"$file"
}

keeper_stop() { # NAME
    local file pid
    file=$(keeper_file "$1")
    [ -e "$file" ] || return 0
    pid=$(<"$file")
    rm -f "$file"
    # another process may have the PID by now
    if [ -n "$pid" ] && grep -qs "/$(cgroup_name)" "/proc/$pid/cgroup"; then
        kill -KILL "$pid" 2>/dev/null || true
        while [ -d "/proc/$pid" ]; do sleep 0.01; done
    fi
}

flaky_run() { # NODE IFACE MBPS SLOW_S FAST_S
    while [ -e "$(keeper_file "flaky-rail-$1-$2")" ]; do
        link_shape "$1" "$2" "$3"
        sleep "$4"
        link_shape "$1" "$2" "$rail_mbps"
        sleep "$5"
    done
}

fault_flaky_rail() { # NODE IFACE [MBPS [SLOW_S FAST_S]]
    local mbps=${3:-$((rail_mbps / 4))} slow=${4:-1} fast=${5:-2}
    fault_arguments flaky-rail $# 2 5 'NODE IFACE [MBPS [SLOW_S FAST_S]]'
    fault_node "$1"
    fault_rail "$2"
    plain_number "$mbps" MBPS 1 100000
    plain_number "$slow" SLOW_S 1 3600
    plain_number "$fast" FAST_S 1 3600
    fault_record flaky-rail "$1" "$2" "$mbps" "$slow" "$fast"
    keeper_stop "flaky-rail-$1-$2"
    keeper_start "flaky-rail-$1-$2" flaky_run "$1" "$2" "$mbps" "$slow" "$fast"
    print_info "$1: $2 runs at $mbps Mb/s for $slow s of every $((slow + fast)) s"
}

# Puts the program delay into the cable of a switch port. A port has one such cable at a time, the newest.
cable_fault() { # PORT DELAY-ARGUMENT...
    cable_undo "$1"
    [ -x "$state/delay" ] || cc -O2 -Wall -o "$state/delay" "$lab_dir/delay.c"
    cable_insert "$1"
    keeper_start "cable-$1" exec nsenter --net="/run/netns/$(ns_of fabric)" \
        "$state/delay" "$1-near" "$1-far" "${@:2}"
    cable_wait "$1" || die "nothing carries frames between $1 and its switch"
}

cable_undo() { # PORT
    keeper_stop "cable-$1"
    cable_remove "$1"
}

fault_long_rail() { # NODE IFACE [US]
    local us=${3:-1000}
    rail_fault long-rail "$us" US 1 100000 "$@"
    cable_fault "$1-$2" "$us"
    print_info "$1: what $2 sends and receives is $us us longer on its way"
}

fault_lossy_rail() { # NODE IFACE [PERCENT]
    local percent=${3:-2}
    percent_fault lossy-rail "$percent" "$@"
    cable_fault "$1-$2" 0 "$percent"
    print_info "$1: $percent % of what $2 sends and receives is lost"
}

fault_corrupt_rail() { # NODE IFACE [PERCENT]
    local percent=${3:-0.5}
    percent_fault corrupt-rail "$percent" "$@"
    cable_fault "$1-$2" 0 0 "$percent"
    print_info "$1: $percent % of what $2 sends and receives has a bit turned"
}

# Loses frames that two nodes send each other on a rail, both ways; frames from and to others arrive.
fault_lossy_path() { # NODE PEER IFACE [PERCENT]
    local percent=${4:-2}
    fault_arguments lossy-path $# 3 4 'NODE PEER IFACE [PERCENT]'
    fault_node "$1"
    fault_node "$2"
    fault_rail "$3"
    plain_percent "$percent"
    fault_record lossy-path "$1" "$2" "$3" "$percent"
    cable_fault "$1-$3" 0 "$percent" 0 "$(address_of "$2" "${3#eth}")"
    print_info "$1 and $2: $percent % of what they send each other on $3 is lost"
}

fault_lossy_uplink() { # [PERCENT]
    local percent=${1:-2}
    fault_arguments lossy-uplink $# 0 1 '[PERCENT]'
    plain_percent "$percent"
    fault_record lossy-uplink "$percent"
    cable_fault uplink1 0 "$percent"
    print_info "$percent % of what goes between the leaf switches is lost"
}

percent_fault() { # KIND PERCENT NODE IFACE [PERCENT]
    fault_arguments "$1" $(($# - 2)) 2 3 'NODE IFACE [PERCENT]'
    fault_node "$3"
    fault_rail "$4"
    plain_percent "$2"
    fault_record "$1" "$3" "$4" "$2"
}

plain_percent() { # PERCENT
    [[ $1 =~ ^[0-9]{1,2}(\.[0-9]{1,3})?$ ]] ||
        usage_error "PERCENT is '$1', expected a number from 0 to 99.999"
}

# Sets the MTU at the switch: it drops longer frames silently, both ways.
fault_path_mtu() { # NODE IFACE [MTU]
    local mtu=${3:-1500}
    rail_fault path-mtu "$mtu" MTU 1280 9000 "$@"
    port_mtu "$1" "$2" "$mtu"
    print_info "$1: the switch's port of $2 has MTU $mtu instead of 9000"
}

linkfault_undo() { # KIND NODE ARGUMENT...
    case $1 in
    slow-sends | slow-receives) link_shape "$2" "$3" "$rail_mbps" ;;
    slow-host) host_link_remove "$2" ;;
    slow-leaf) leaf_shape "$2" "$rail_mbps" ;;
    flaky-rail)
        keeper_stop "flaky-rail-$2-$3"
        link_shape "$2" "$3" "$rail_mbps"
        ;;
    long-rail | lossy-rail | corrupt-rail) cable_undo "$2-$3" ;;
    lossy-path) cable_undo "$2-$4" ;;
    lossy-uplink) cable_undo uplink1 ;;
    path-mtu) port_mtu "$2" "$3" 9000 ;;
    slow-path)
        link_shape "$2" "$4" "$rail_mbps"
        link_shape "$3" "$4" "$rail_mbps"
        ;;
    *) return 1 ;;
    esac
}
