#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where only cgroup v2 is mounted, as systemd does it, the lab mounts the two v1 controllers it needs,
# and unmounts them at the end.

# Makes such a machine in a mount namespace of this test. A v1 hierarchy that is mounted outside keeps
# its controllers, so the lab mounts the same hierarchy once more.
if [ "$(id -u)" -eq 0 ] && [ -z "${T1007_MOUNTS-}" ]; then
    T1007_MOUNTS=$(readlink /proc/self/ns/mnt) exec unshare --mount --propagation private bash "$0" "$@"
fi
. "$(dirname "$0")/testlab.sh"

[ "$(readlink /proc/self/ns/mnt)" != "$T1007_MOUNTS" ] || bail 'no mount namespace of its own'
unset T1007_MOUNTS
umount --all --lazy --types cgroup,cgroup2
umount --lazy /sys/fs/cgroup 2>/dev/null
mount -t cgroup2 cgroup2 /sys/fs/cgroup || bail 'cgroup v2 cannot be mounted'

first=$name second=$name-b
one() { name=$first lab "$@"; }
two() { name=$second lab "$@"; }
tap_cleanup() {
    one down >/dev/null
    two down >/dev/null
}

mounted() { findmnt -rn -t cgroup -o TARGET | sort | xargs; }

# Prints the lab's cgroups, seen through a mount of this test.
cgroups() {
    local controllers seen
    seen=$(mktemp -d)
    awk -F: '{ sub(/,?name=.*/, "", $2) } $2 ~ /(^|,)(devices|freezer)(,|$)/ { print $2 }' \
        /proc/self/cgroup | while read -r controllers; do
        mount -t cgroup -o "$controllers" cgroup "$seen"
        find "$seen" -type d -name "muster-$first-*" -printf "$controllers %f\n"
        umount "$seen"
    done
    rmdir "$seen"
}

# Prints everything of the two labs that can be found, one line each.
remains() {
    ls -d /run/netns/"muster-$first-"* "$top/.lab/$first"* 2>/dev/null
    grep -e "$first" /proc/self/mountinfo
    grep -l "/[.]lab/$first" /proc/[0-9]*/mountinfo 2>/dev/null
    cgroups
    true
}

is "$(mounted)" '' 'no v1 hierarchy is mounted'
lab_up -n 2
like "$(mounted)" "/[.]lab/$first/cgroup/[a-z_,]*devices" 'the lab has mounted devices'
like "$(mounted)" "/[.]lab/$first/cgroup/[a-z_,]*freezer" 'and freezer'
ok 'and no more' test "$(mounted | wc -w)" -le 2
unlike "$(lab on n1 findmnt -rn -t cgroup -o TARGET)" '[.]lab' 'a node does not see these mounts'
is "$(lab on n1 sh -c 'cd /sys/fs/cgroup && ls -d devices freezer' | xargs)" 'devices freezer' \
    'but its own cgroups in them'

# shellcheck disable=SC2016 # the node's shell expands it
is "$(lab run srun -N2 --gres=gpu:2 sh -c 'for device in /dev/gpu?; do
        if (exec 3<>$device) 2>/dev/null; then echo -n $device; fi; done; echo' | sort | uniq -c | xargs)" \
    '2 /dev/gpu0/dev/gpu1' 'jobs run, and open the GPUs they were given'
ok 'a batch job' lab run sbatch --wait -N2 -o /dev/null --wrap 'srun hostname'
ok 'a node is frozen' lab fault frozen n2
status=0
lab on n2 true 2>/dev/null || status=$?
is $status 125 'and runs nothing'
ok 'until it is healed' lab heal

two up -n 2 >/dev/null || bail 'the second lab does not start'
like "$(mounted)" "/[.]lab/$second/cgroup/" 'a second lab has mounts of its own'
ok 'the first goes down' one down
unlike "$(mounted)" "/[.]lab/$first/" 'and its mounts go'
is "$(two run srun -N2 hostname | sort | xargs)" 'n1 n2' 'the second still runs jobs'
two run sbatch -N2 -o /dev/null --wrap 'srun sleep 1000' >/dev/null
ok 'both labs are seen by this test' test "$(cgroups | wc -l)" -ge 1
ok 'the second goes down with a running job' two down
is "$(remains)" '' 'nothing is left'

for delay in 0.05 0.1 0.2 0.4 0.8; do
    { timeout -s KILL $delay "$lab_dir/lab" -L "$name" up -n 2 >/dev/null; } 2>/dev/null
    ok "down after up was killed at $delay s" lab down
    is "$(remains)" '' 'nothing is left'
done
{ timeout -s KILL 0.4 "$lab_dir/lab" -L "$name" up -n 2 >/dev/null; } 2>/dev/null
ok 'up after a killed up' lab up -n 1
is "$(lab run srun hostname)" n1 'runs jobs'
ok 'down from a mount namespace that does not have the mounts' \
    unshare --mount --propagation private sh -c \
    "umount --all --lazy --types cgroup && '$lab_dir/lab' -L $name down"
is "$(remains)" '' 'nothing is left'

# The lab reads the kernel's controllers from /proc/cgroups. It has mounted devices when it finds freezer missing.
without() { # SED PATTERN NAME
    local file output status=0
    file=$(mktemp)
    sed "$1" /proc/cgroups >"$file"
    mount --bind "$file" /proc/cgroups
    output=$(lab up -n 1 2>&1) || status=$?
    umount /proc/cgroups
    rm "$file"
    is $status 1 "up where $3 fails"
    like "$output" "$2" 'and says so'
    is "$(remains)" '' 'nothing is left'
}
without '/^freezer/s/1$/0/' 'controller freezer is disabled' 'freezer is disabled'
without '/^freezer/d' 'this kernel has no cgroup v1 controller freezer' 'there is no freezer'
done_testing
