# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# node.sh - the lab's hosts as process trees: namespaces, cgroups, entering, killing.

# The cgroup controllers that slurmd and its steps require with the slurm.conf of slurm.sh, found by
# experiment (freezer: for jobs, and frozen nodes; devices: for GPUs). cgroup v2 has neither, so both can
# be mounted as v1 on a machine that mounts v2 only.
readonly controllers_needed='devices freezer'

# $state/HOST has the files that a host sees in place of the machine's.

node_names() {
    local number
    for ((number = 1; number <= nodes; number++)); do
        echo "n$number"
    done
}

# The hosts that run slurmctld.
controllers() {
    printf '%s\n' head $backup
}

hosts() {
    controllers
    node_names
}

# Prints the hierarchies that have these controllers, as 'CONTROLLERS:PATH', with the path of this
# process's cgroup. A hierarchy that is mounted nowhere may exist or not.
hierarchies() { # [CONTROLLERS]
    awk -F: -v needed="${1:-$controllers_needed}" '
        BEGIN { split(needed, list, " "); for (i in list) want[list[i]] = 1 }
        {
            sub(/,name=.*/, "", $2)
            n = split($2, has, ",")
            for (i = 1; i <= n; i++) if (has[i] in want) { print $2 ":" $3; next }
        }
    ' /proc/self/cgroup
}

# Prints where a v1 hierarchy is mounted: by this lab in its state, or by the machine. Ignores other
# mounts, whose owner, such as another lab, may unmount them.
hierarchy_mount() { # CONTROLLERS
    local target root options
    if mountpoint -q "$state/cgroup/$1"; then
        echo "$state/cgroup/$1"
        return
    fi
    while read -r target root options; do
        if [[ $target == /sys/fs/cgroup/* && $root == / && ,$options, == *",${1%%,*},"* &&
            -w $target/cgroup.procs ]]; then
            echo "$target"
            return
        fi
    done < <(findmnt -rn -t cgroup -o TARGET,FSROOT,FS-OPTIONS)
}

hierarchy_mount_own() { # CONTROLLERS
    mkdir -p "$state/cgroup/$1"
    LC_ALL=C mount -t cgroup -o "nosuid,nodev,noexec,$1" "muster-$name" "$state/cgroup/$1"
}

# Mounts in the lab's state the hierarchies that the machine has not mounted. A controller that is in
# a hierarchy already can be mounted only together with the others in it.
hierarchies_mount() {
    local controller controllers error
    for controller in $controllers_needed; do
        case $(awk -v one="$controller" '$1 == one { print $4 }' /proc/cgroups) in
        1) ;;
        0) die "the cgroup controller $controller is disabled (see /proc/cmdline), slurmd needs it" ;;
        *) die "this kernel has no cgroup v1 controller $controller, slurmd needs it" ;;
        esac
        controllers=$(hierarchies "$controller")
        controllers=${controllers%%:*}
        controllers=${controllers:-$controller}
        [ -z "$(hierarchy_mount "$controllers")" ] || continue
        error=$(hierarchy_mount_own "$controllers" 2>&1) ||
            die "the cgroup v1 controller $controller, which slurmd needs, cannot be mounted: ${error%%$'\n'*}$(
                grep -o ' *cgroup_no_v1=[^ ]*' /proc/cmdline || true)"
    done
}

# Mounts the lab's hierarchies again, for a cleanup in a mount namespace other than that of `up`, where
# the cgroups are not visible.
hierarchies_remount() {
    local mount controllers
    for mount in "$state"/cgroup/*; do
        controllers=${mount##*/}
        if [ -d "$mount" ] && ! mountpoint -q "$mount" &&
            [ -n "$(hierarchies "${controllers%%,*}")" ]; then
            hierarchy_mount_own "$controllers" 2>/dev/null || true
        fi
    done
}

# Waits until the kernel has freed removed cgroups, a moment after their directories. A hierarchy that is
# unmounted earlier would stay in the kernel for good.
hierarchy_settle() { # MOUNT
    local one=${1##*/} count _
    for _ in {1..100}; do
        count=$(awk -v one="${one%%,*}" '$1 == one { print $3 }' /proc/cgroups)
        [ "$count" -gt "$(find "$1" -type d | wc -l)" ] || return 0
        sleep 0.02
    done
}

hierarchies_unmount() {
    local mount _
    for mount in "$state"/cgroup/*; do
        mountpoint -q "$mount" || continue
        hierarchy_settle "$mount"
        for _ in {1..1000}; do
            umount "$mount" 2>/dev/null || sleep 0.02
            mountpoint -q "$mount" || break
        done
        if mountpoint -q "$mount"; then
            warn "cannot unmount $mount"
            return 1
        fi
    done
}

# The name of the lab's cgroups. It has a checksum of the tree's path, so that a lab of another tree is
# never mistaken for this one.
cgroup_name() {
    echo "muster-$name-$(cksum <<<"$top" | cut -d' ' -f1)"
}

# Prints the directories of the lab's cgroups, one per hierarchy, wherever `up` found or mounted them.
cgroup_roots() {
    find /sys/fs/cgroup "$state/cgroup" -maxdepth 7 -type d -name "$(cgroup_name)" 2>/dev/null || true
}

cgroup_make() { # DIRECTORY
    mkdir -p "$1"
    # If the hierarchy has the controller cpuset too, a new cpuset is empty and accepts no process.
    if [ -e "$1/cpuset.cpus" ] && [ -z "$(<"$1/cpuset.cpus")" ]; then
        cat "$1/../cpuset.cpus" >"$1/cpuset.cpus"
        cat "$1/../cpuset.mems" >"$1/cpuset.mems"
    fi
}

# Makes the cgroups of the lab and its hosts, and moves this process into the lab's, so that
# everything `up` starts is found by `down` even if `up` is killed.
cgroups_create() {
    local line mount path host
    hierarchies_mount
    while IFS=: read -r line path; do
        mount=$(hierarchy_mount "$line")
        path=$mount${path%/}/$(cgroup_name)
        cgroup_make "$path"
        for host in $(hosts); do
            cgroup_make "$path/$host"
        done
        echo $BASHPID >"$path/cgroup.procs"
    done < <(hierarchies)
    cgroup_roots >"$state/cgroups"
}

cgroup_join() { # HOST
    local root
    while read -r root; do
        echo $BASHPID >"$root/$1/cgroup.procs" || return 1
    done <"$state/cgroups"
}

# Moves this process out of the lab's cgroups, so that they can be removed.
cgroup_leave() {
    local root
    for root in $(cgroup_roots); do
        if grep -qx "$BASHPID" "$root/cgroup.procs"; then
            echo $BASHPID >"$root/../cgroup.procs"
        fi
    done
}

freezer_of() { # HOST
    local root
    while read -r root; do
        if [ -e "$root/$1/freezer.state" ]; then
            echo "$root/$1/freezer.state"
            return
        fi
    done <"$state/cgroups"
    return 1
}

cgroups_processes() {
    local root
    for root in $(cgroup_roots); do
        find "$root" -name cgroup.procs -exec cat {} + 2>/dev/null || true
    done | sort -un
}

# Kills every process of the lab, and waits until the last has gone.
processes_kill() {
    local root pids try
    for try in {1..3000}; do
        pids=$(cgroups_processes | grep -vx -e $$ -e $BASHPID || true)
        [ -n "$pids" ] || return 0
        # shellcheck disable=SC2086 # a list
        kill -KILL $pids 2>/dev/null || true
        # a frozen process dies when it is thawed
        for root in $(cgroup_roots); do
            find "$root" -name freezer.state -exec sh -c 'echo THAWED >"$1"' - {} \; 2>/dev/null || true
        done
        sleep 0.02
    done
    # shellcheck disable=SC2086
    warn "still alive after $try tries: $(ps -o pid=,stat=,args= -p "${pids//$'\n'/,}" | head -5)"
    return 1
}

cgroups_delete() {
    local root _
    for root in $(cgroup_roots); do
        for _ in {1..1000}; do
            find "$root" -depth -type d -exec rmdir {} + 2>/dev/null && break
            [ -d "$root" ] || break
            sleep 0.02
        done
        if [ -d "$root" ]; then
            warn "cannot remove the cgroup $root"
            return 1
        fi
    done
}

# Prints the PID, on the machine, of a host's process 1; fails if it is not running.
host_pid() { # HOST
    local pid start now
    read -r pid start 2>/dev/null <"$state/$1/pid" || return 1
    read -ra now 2>/dev/null <"/proc/$pid/stat" || return 1
    [ "${now[21]}" = "$start" ] || return 1
    echo "$pid"
}

host_files() { # HOST: makes the directories that become its /etc and /var
    local dir
    dir=$state/$1
    mkdir -p "$dir"/etc/{slurm,muster} "$dir"/var/lib/muster "$dir"/var/log/slurm \
        "$dir"/var/spool/slurmd
    # both controllers share their state, so that the backup can take over
    if [ "$1" = "$backup" ]; then
        ln -s "$state/head/var/spool/slurmctld" "$dir/var/spool/"
    else
        mkdir -p "$dir/var/spool/slurmctld"
    fi
    local owner
    owner=$(munge_owner)
    install -d -o "${owner%:*}" -g "${owner#*:}" -m 700 "$dir/etc/munge" "$dir/var/lib/munge" \
        "$dir/var/log/munge"
    munge_key "$1"
}

munge_key() { # HOST
    local owner
    owner=$(munge_owner)
    install -o "${owner%:*}" -g "${owner#*:}" -m 400 "$state/munge.key" "$state/$1/etc/munge/munge.key"
}

# Starts process 1 of a host in namespaces of its own. It is ready when its pid file is there.
host_start() { # HOST
    local dir
    dir=$state/$1
    (
        cgroup_join "$1"
        state_unlock
        exec setsid nsenter --net="/run/netns/$(ns_of "$1")" \
            unshare --uts --ipc --mount --pid --cgroup --fork --kill-child \
            "$lab_dir/node-init" "$1" "$dir" "$top" \
            "$(hierarchies | cut -d: -f1 | tr '\n' ' ')" "$root" </dev/null >"$dir/init.log" 2>&1
    ) &
    disown
}

hosts_wait() {
    local host pending deadline=$((SECONDS + 120 + nodes / 2))
    while :; do
        pending=
        for host in $(hosts); do
            [ -e "$state/$host/pid" ] || pending+=" $host"
        done
        [ -n "$pending" ] || return 0
        for host in $pending; do
            if [ -e "$state/$host/failed" ] || [ $SECONDS -ge $deadline ]; then
                die "$host does not start: $(tail -n 2 "$state/$host/init.log")"
            fi
        done
        sleep 0.05
    done
}

# Runs a command inside a host, replacing this process.
host_exec() { # HOST COMMAND...
    state_unlock
    exec "$state/enter" "$state" "$@"
}

# The same in a child process, for the lab's own use.
host_do() { # HOST COMMAND...
    (host_exec "$@")
}
