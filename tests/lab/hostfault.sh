# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# hostfault.sh - slow processors and disks, by limits of cgroup v1 on all processes of a node. Slow memory
# needs hardware that can slow it down.

limits_find() { # NODE CONTROLLER: sets limits, the node's cgroup
    local controllers path mount
    IFS=: read -r controllers path < <(hierarchies "$2") || die "this machine has no cgroup v1 controller $2"
    mount=$(hierarchy_mount "$controllers")
    [ -n "$mount" ] || die "the cgroup v1 controller $2 is not mounted below /sys/fs/cgroup"
    limits=$mount${path%/}/$(cgroup_name)/$1
}

# Moves all processes below FROM-DIRECTORY. Processes that they start later are in TO-DIRECTORY, too.
processes_move() { # FROM-DIRECTORY TO-DIRECTORY
    local pid
    while read -r pid; do
        echo "$pid" >"$2/cgroup.procs" 2>/dev/null || true # it may have ended
    done < <(find "$1" -name cgroup.procs -exec cat {} +)
}

limits_make() { # NODE CONTROLLER
    local freezer
    limits_find "$@"
    cgroup_make "${limits%/*}"
    cgroup_make "$limits"
    freezer=$(freezer_of "$1")
    processes_move "${freezer%/*}" "$limits"
}

limits_remove() { # NODE CONTROLLER
    local limits
    limits_find "$@"
    [ -d "$limits" ] || return 0
    until processes_move "$limits" "${limits%/*/*}" && rmdir "$limits" 2>/dev/null; do sleep 0.01; done
}

# High cpu.shares: the node is served before all others until its quota is used up, so that the quota also
# limits it on a busy machine.
fault_slow_cores() { # NODE [PERCENT]
    local percent=${2:-35} limits
    fault_arguments slow-cores $# 1 2 'NODE [PERCENT]'
    fault_node "$1"
    plain_number "$percent" PERCENT 1 99
    fault_record slow-cores "$1" "$percent"
    limits_make "$1" cpu
    echo 262144 | tee "${limits%/*}/cpu.shares" >"$limits/cpu.shares"
    echo 10000 >"$limits/cpu.cfs_period_us"
    echo $((100 * percent * $(nproc))) >"$limits/cpu.cfs_quota_us"
    host_do "$1" sh -c 'mkdir -p /sys/fs/cgroup/cpu
        mountpoint -q /sys/fs/cgroup/cpu || mount -t cgroup -o cpu cgroup /sys/fs/cgroup/cpu'
    print_info "$1: its processes have $percent % of the processors' time"
}

# Makes /var/scratch on a node and sets DiskTestPath to it, so that muster tests that disk.
disk_folder_make() { # NODE
    install -d -m 1777 "$state/$1/scratch"
    # shellcheck disable=SC2016 # $1 is the inner shell's
    host_do "$1" sh -c 'mkdir -p /var/scratch; mountpoint -q /var/scratch || mount --bind "$1" /var/scratch
        grep -q ^DiskTestPath= /etc/muster/muster.conf || echo DiskTestPath=/var/scratch >>/etc/muster/muster.conf' \
        sh "$state/$1/scratch"
}

disk_folder_remove() { # NODE
    host_do "$1" sh -c 'sed -i /^DiskTestPath=/d /etc/muster/muster.conf
        while mountpoint -q /var/scratch; do umount /var/scratch; done; rm -f /dev/scratch'
    rm -rf "$state/$1"/scratch{,.img}
}

# losetup -d detaches the loop device once it is unmounted.
fault_slow_disk() { # NODE [MBPS]
    local mbps=${2:-5} limits image node device number
    fault_arguments slow-disk $# 1 2 'NODE [MBPS]'
    fault_node "$1"
    plain_number "$mbps" MBPS 1 10000
    fault_record slow-disk "$1" "$mbps"
    for node in $(node_names); do
        disk_folder_make "$node"
    done
    disk_folder_remove "$1"
    disk_folder_make "$1"
    image=$state/$1/scratch.img
    truncate -s 2G "$image"
    mkfs.ext4 -q -F -O ^has_journal "$image"
    device=$(losetup -f --show "$image") || die 'there is no loop device'
    number=$(<"/sys/class/block/${device##*/}/dev")
    host_do "$1" sh -c "mknod /dev/scratch b ${number/:/ } && mount /dev/scratch /var/scratch && chmod 1777 /var/scratch" ||
        warn "$1: $device cannot be mounted"
    losetup -d "$device"
    limits_make "$1" blkio
    echo "$number ${mbps}000000" | tee "$limits/blkio.throttle.read_bps_device" >"$limits/blkio.throttle.write_bps_device"
    print_info "$1: its disk, /var/scratch, reads and writes $mbps MB/s"
}

disk_folders_remove() {
    local node
    for node in $(node_names); do
        disk_folder_remove "$node"
    done
}

hostfault_undo() { # KIND NODE ...
    case $1 in
    slow-cores) limits_remove "$2" cpu ;;
    slow-disk)
        limits_remove "$2" blkio
        disk_folders_remove
        ;;
    *) return 1 ;;
    esac
}
