# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # tests use what is set
#
# battery.sh - for lab tests of the battery: a lab of four nodes with the MPI programs. These come
# from .lab/prefix/bin, or the directory that MUSTER_BATTERY names. Instead of testlab.sh:
#
#   . "$(dirname "$0")/battery.sh"
#   battery 2 muster-launch --expect-nodes 'n[1-4]'   # two ranks per node
#   $records $status $seconds $stderr_text   # JSON lines, exit status, wall time, standard error
#   record_fields '.test == "links" and .peer == "n3"' .value   # a field of the records that match
#   valid 'a healthy run'               # all records are as doc/records.md says

. "$(dirname "${BASH_SOURCE[0]}")/testlab.sh"
battery_dir=${MUSTER_BATTERY:-$prefix/bin}
[ -x "$battery_dir/muster-launch" ] ||
    skip_all "no battery in $battery_dir: install muster to .lab/prefix, or set MUSTER_BATTERY"
command -v python3 >/dev/null || skip_all 'no python3 to read records with'
record_check_find

lab_up -n 4
cp "$battery_dir"/muster-{launch,links,collectives} "$work/" # where the nodes see them
cat >"$work/muster.conf" <<END
ManagementInterface=eth0
FabricInterfaces=eth[1-2]
NominalSpeed=eth[1-2]:200Mb/s
END
export MUSTER_CONF=$work/muster.conf

# Runs a program on all nodes. On a busy machine Open MPI sometimes crashes in MPI_Init (t1001): a run that
# crashes without a record is repeated, twice at most.
battery() { # RANKS-PER-NODE PROGRAM OPTION...
    local ranks=$1 program=$2 begin
    shift 2
    for _ in 1 2 3; do
        within 60 no_jobs # otherwise srun prints that it waits for the last job to end
        begin=$EPOCHREALTIME
        status=0
        timeout 120 "$lab_dir/lab" -L "$name" run setpriv --reuid=muster --regid=muster --init-groups \
            srun -N4 --ntasks-per-node="$ranks" "$work/$program" "$@" --json >"$work/records" 2>"$work/stderr" </dev/null || status=$?
        [ $status = 139 ] && [ ! -s "$work/records" ] || break
        cat "$work/stderr" >&2
    done
    seconds=$(awk "BEGIN { print $EPOCHREALTIME - $begin }")
    records=$(cat "$work/records")
    stderr_text=$(cat "$work/stderr")
}

# Starts a command in the background ($beside) and waits until FILE has PATTERN. If the command ends before,
# it is started again, as in battery().
begin_beside() { # PATTERN FILE COMMAND...
    for _ in 1 2 3; do
        : >"$2"
        "${@:3}" &
        beside=$!
        within 100 has_pattern_or_ended "$1" "$2"
        ! kill -0 $beside 2>/dev/null && ! grep -q "$1" "$2" || break
    done
}
has_pattern_or_ended() { grep -q "$1" "$2" || ! kill -0 $beside; }

# Runs the battery until COMMAND accepts the figures, three times at most: a busy machine lowers figures and
# never raises them.
battery_until() { # COMMAND RANKS-PER-NODE PROGRAM OPTION...
    for _ in 1 2 3; do
        battery "${@:2}"
        ! "$1" || break
    done
}

# Prints fields of the records for which a Python expression is true; in it .test is the field test.
record_fields() { # EXPRESSION FIELD...
    python3 - "$work/records" "$@" <<'END'
import json, re, sys
path, expression, *fields = sys.argv[1:]
expression = re.sub(r'(?<!\w)\.([a-z_]+)', r'record.get("\1")', expression)
for line in open(path):
    record = json.loads(line)
    if eval(expression):
        print(*(record.get(field.lstrip(".")) for field in fields), flush=True)
END
}

valid() { # NAME
    if [ -z "$record_check" ]; then
        ok "$1: every record is JSON" record_fields 'True' .test
        return
    fi
    ok "$1: every record is as doc/records.md says" check_records
}

# Checks that the program ended by itself within four times LIMIT seconds: a busy machine takes several times
# as long as an idle one. Whatever else could end it comes much later.
within_s() { # LIMIT NAME
    ok "$2 (${seconds} s)" awk "BEGIN { exit !($seconds <= 4 * $1) }"
}

# Whether no process of a program is left on any node.
has_no_process() { # PROGRAM
    ! pgrep -f "^$work/$1" >/dev/null
}
