# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# testlab.sh - for lab tests: a lab of the test's own, taken down when the test ends. Source it, or a
# helper of this folder that does, instead of tap.sh:
#
#   . "$(dirname "$0")/testlab.sh"
#   lab_up -n 2                         # lab $name; stops the test run when it does not start, and skips
#                                       # the test where --accounting has no MariaDB or slurmdbd
#   lab run srun -N2 hostname           # the lab command, for this lab
#   as_muster srun -N2 muster-launch    # as an ordinary user, BatteryUser
#   run_as alice sbatch ...            # as a user of lab up --accounting
#   as_user srun ...                    # as nobody
#   $work                               # a directory that the nodes see too, removed with the lab
#   $release $prefix                    # the Debian release that the lab runs, and where muster built for it
#                                       # is installed: MUSTER_LAB_RELEASE=trixie tests/lab/t1200*

! declare -F lab_up >/dev/null || return 0 # another helper has sourced it
lab_dir=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd -P "$lab_dir/../.." && pwd)
. "$lab_dir/../tap.sh"
release=${MUSTER_LAB_RELEASE:-bookworm}
# shellcheck source=release.sh
. "$lab_dir/release.sh"
release_choose "$release"
name=$(basename "$0" .t | cut -d- -f1)-$$
export -n MUSTER_LAB

[ "$(id -u)" -eq 0 ] || skip_all 'the lab needs root'
if [ "$release" = bookworm ]; then
    command -v slurmctld >/dev/null || skip_all 'no slurmctld here'
elif [ ! -e "$prefix/lib/slurm/spank_muster.so" ]; then
    # a failed build is a failure with its reason, not a skipped test
    output=$("$lab_dir/build" "$release" 2>&1) || bail "build $release: $(tail -n 3 <<<"$output")"
fi

muster_find() { # sets muster; skips the test where it is not installed
    muster=${MUSTER:-$prefix/bin/muster}
    [ -x "$muster" ] || skip_all "no $muster: install muster to .lab/prefix, or name it in MUSTER"
}

record_check_find() { # sets record_check; empty where it is not built
    local path
    record_check=${RECORD_CHECK:-}
    for path in "$top/.lab/build/tests/record-check" "$top/tests/record-check"; do
        [ -n "$record_check" ] || [ ! -x "$path" ] || record_check=$path
    done
}
check_records() { "$record_check" "$top/doc/records.md" <"$work/records"; }

lab() { "$lab_dir/lab" -L "$name" "$@"; }
# In the background call "$lab_dir/lab" -L "$name" ... & and not this function, which adds a process in between:
# a signal to $! must reach the command.

run_as() { # USER COMMAND...
    lab run setpriv --reuid="$1" --regid="$1" --init-groups "${@:2}"
}
# As BatteryUser, who runs MPI programs: the battery refuses root.
as_muster() { run_as muster "$@"; }
# As nobody, who owns no file.
as_user() { lab run setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

lab_up() {
    local output tool
    if [[ " $* " == *' --accounting '* ]]; then
        for tool in mariadbd slurmdbd; do
            command -v $tool >/dev/null || skip_all "no $tool here"
        done
    fi
    output=$(lab up "$@" 2>&1) || bail "lab up $*: $output"
    work=$top/.lab/$name/work
    mkdir -p "$work"
}

tap_cleanup() { lab down >/dev/null; }

# Appends lines to muster.conf of a host.
conf_add() { # HOST LINE...
    printf '%s\n' "${@:2}" >>"$top/.lab/$name/$1/etc/muster/muster.conf"
}

# Appends lines to slurm.conf on all hosts. slurmctld has read them on return, each slurmd a moment later.
slurm_conf_add() { # LINE...
    local file
    for file in "$top/.lab/$name"/{head,backup,n*[0-9]}/etc/slurm/slurm.conf; do
        [ ! -e "$file" ] || printf '%s\n' "$@" >>"$file"
    done
    lab run scontrol reconfigure
}

# Prints what sinfo says of each node, with "idle" for "completing" and "planned". An idle node is "completing"
# until a job has ended there completely, for which srun does not wait, and "planned" while the backfill
# scheduler has planned a job for it, until its next pass.
sinfo_nodes() { lab run sinfo -h -N "$@" | sed -E 's/\b(completing|planned)(\**)$/idle\2/'; } # OPTION...

says_nothing() { # COMMAND...: it succeeds, and prints nothing
    local text
    text=$("$@") && [ -z "$text" ]
}

# Whether the queue has no jobs, or has some. A job stays there for a moment after its srun has ended.
no_jobs() { says_nothing lab run squeue -h "$@"; } # SQUEUE-OPTION...
has_jobs() { [ -n "$(lab run squeue -h "$@")" ]; } # SQUEUE-OPTION...

# Ends slurmd by a signal, and waits until it has ended. After TERM it waits for its prologs and epilogs.
end_slurmd() { # NODE SIGNAL
    lab on "$1" sh -c "pkill -$2 -x slurmd; while pgrep -x slurmd; do sleep 0.05; done" >/dev/null
}

# Starts slurmd and waits until it listens, which is after it returns: slurmctld repeats a message that it
# cannot deliver only a minute later.
begin_slurmd() { # NODE
    lab on "$1" /usr/sbin/slurmd </dev/null >/dev/null 2>&1
    within 60 lab on "$1" bash -c "exec 3<>/dev/tcp/$1/6818"
}

no_process() { # NODE PGREP-ARGUMENT...
    local status=0
    lab on "$1" pgrep "${@:2}" >/dev/null || status=$?
    [ $status -eq 1 ]
}

address() { # NODE RAIL: of eth0, eth1, eth2
    lab on "$1" ip -4 -o address show dev "eth$2" | awk '{ sub("/.*", "", $4); print $4 }'
}

# Prints the rate of iperf3 from one node to another on a rail, in Mb/s.
rate() { # FROM TO RAIL [SECONDS]
    local to _
    to=$(address "$2" "$3")
    lab on "$2" iperf3 --server --one-off --daemon --bind "$to"
    for _ in {1..50}; do
        lab on "$1" iperf3 --client "$to" --time "${4:-1}" --format m 2>/dev/null && break
        sleep 0.1
    done | awk '/receiver/ { rate = $7 } END { printf "%d\n", rate }'
}

# Checks the first of at most six rates that is not below LOW: a busy machine lowers a rate and never raises it.
runs_at() { # NAME LOW HIGH FROM TO RAIL
    local got _
    for _ in {1..6}; do
        got=$(rate "${@:4}")
        [ "$got" -lt "$2" ] || break
    done
    ok "$1: $got Mb/s" between "$got" "$2" "$3"
}

between() { # VALUE LOW HIGH
    [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]
}
