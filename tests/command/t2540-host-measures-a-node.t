#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster-host on this machine: each figure is a record of the schema, a core that computes differently
# is found, the disk is tested if the site wants it, and nothing of that test stays.
. "$(dirname "$0")/command.sh"
needs muster-host
command -v jq >/dev/null || skip_all 'no jq(1)'
mpi_environment
program=$top_builddir/muster-host
disk=$(mktemp -d /var/tmp/muster-t2540-XXXXXX)
quota=
tap_cleanup() {
    rm -rf "$dir" "$disk"
    [ ! -d "$quota" ] || within 60 rmdir "$quota" # a process of MPI may still be exiting
}
export MUSTER_CONF=$dir/conf

host() { # FOLDER OPTION...: writes the records to the file json, sets text to those that do not pass
    echo "DiskTestPath=$1" >"$dir/conf"
    timeout 600 "$program" --json --quick --time-limit=170 "${@:2}" >"$dir/json" 2>"$dir/err" </dev/null
    status=$?
    text=$(jq -r 'select(.verdict and .verdict != "pass") | "\(.verdict) \(.code // "-") \(.test) \(.metric)"' \
        "$dir/json" | sort -u)
}
metrics() { jq -r 'select(.test | startswith("host.")) | .metric' "$dir/json" | sort -u | xargs; }

host ''
is "$(metrics)" 'core_rate results triad' 'processors and memory are measured, but no disk'
records_hold '... records as doc/records.md says' <"$dir/json"
is "$(jq -r 'select(.metric == "results") | .verdict' "$dir/json")" pass 'all cores have the same results'
is "$(jq -r 'select(.metric == "results") | .value % 10' "$dir/json")" 0 '... in each repeat on each core'
is "$(jq -r 'select(.metric == "triad" or .metric == "core_rate") | select(.value <= 0) | .metric' "$dir/json")" '' \
    '... with figures above zero'

host '' --tests=compute --inject=lie:0
like "$text" ' core_wrong host.compute ' 'a core with other results is found'
isnt "$status" 0 '... and the status is not 0'

# a quota of a third of a processor, like CPUQuota in slurmd's unit; shares keep other load away from it
quota=/sys/fs/cgroup/cpu$(awk -F: '$2 ~ /(^|,)cpu(,|$)/ { print $3; exit }' /proc/self/cgroup)/muster-t2540-$$
if [ "$(id -u)" -eq 0 ] && mkdir "$quota" 2>/dev/null && echo 262144 >"$quota/cpu.shares" &&
    echo 33000 >"$quota/cpu.cfs_quota_us"; then
    (
        echo $BASHPID >"$quota/cgroup.procs"
        echo DiskTestPath= >"$dir/conf"
        exec timeout 600 "$program" --json --tests=compute >"$dir/json" 2>"$dir/err" </dev/null
    )
    like "$(jq -r 'select(.metric == "quota") | "\(.verdict) \(.code)"' "$dir/json")" '^warn cpu_limited$' \
        'a CPU quota is a warning'
    is "$(jq -r 'select(.metric == "results") | .verdict' "$dir/json")" pass '... with correct results'
else
    skip 2 'no cgroup v1 to set a CPU quota in'
fi

host "$disk" --tests=disk
if grep -q '"metric":"disk"' "$dir/json"; then # no O_DIRECT, no O_TMPFILE, or no space
    is "$status/$text" '3/unknown not_measured host.disk disk' 'a disk that cannot be tested is unknown'
else
    is "$(metrics)" 'disk_read disk_reads disk_write' 'the disk is tested if DiskTestPath is set'
fi
is "$(ls -A "$disk")" '' '... and no file is left'
host "$disk/none" --tests=disk
is "$status/$text" '3/unknown not_measured host.disk disk' 'a missing folder is unknown'
like "$(cat "$dir/json")" 'the folder: No such file or directory' '... with the reason'
if [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ]; then
    host /dev/shm --tests=disk
    like "$(cat "$dir/json")" 'is a memory file system, not a disk' 'a file system in memory is not a disk'
else
    skip 1 'no tmpfs on /dev/shm'
fi
done_testing
